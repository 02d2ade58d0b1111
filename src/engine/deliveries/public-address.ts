// Which addresses a delivery may be sent to: only those of the public internet, unless the server allows others. A URL is
// chosen by whoever has the scope `admin` of one ledger, and the server may reach what they may not.
import { BlockList, isIP } from "node:net";

/** Not of the public internet (IANA's registries of special-purpose addresses, RFC 6890), with a prefix each. */
const specialIpv4 = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"],
  ...["198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
];

/** Addresses with an IPv4 address in them could be any: of IPv6, only global unicast that names no IPv4 address is public. */
const specialIpv6 = [
  ...["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"],
  // All but 2000::/3.
  ...["::/3", "4000::/2", "8000::/1"],
];

/** One for each family: a list takes an IPv4 address for the IPv6 one that it is mapped to, too. */
const special = {
  ipv4: blockListOf("ipv4", specialIpv4),
  ipv6: blockListOf("ipv6", specialIpv6),
};

function blockListOf(family: "ipv4" | "ipv6", blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = "", prefix] = block.split("/");
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Whether an IP address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  // A zone is of this machine's links.
  if (family === 0 || address.includes("%")) return false;
  const name = family === 4 ? "ipv4" : "ipv6";
  return !special[name].check(address, name);
}
