// Under which addresses a server can be reached from other machines.
import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/** The URLs of a server for other machines; none where it listens on loopback only. `host`: what it was told to bind. */
export async function listUrlsForOthers(url: string, host: string): Promise<string[]> {
  const { protocol, port } = new URL(url);
  const { address } = await lookup(host);
  return addressesForOthers(address).map((each) => {
    const name = isIPv6(each) ? `[${each}]` : each;
    return `${protocol}//${name}${port === "" ? "" : `:${port}`}`;
  });
}

function addressesForOthers(bound: string): string[] {
  if (bound === "::1" || bound.startsWith("127.")) return [];
  if (bound !== "0.0.0.0" && bound !== "::") return [bound];
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family, address }) => {
      // A link-local address of IPv6 says nothing without the name of an interface.
      const isUsable = !internal && !address.startsWith("fe80:");
      return isUsable && (bound === "::" || family === "IPv4");
    })
    .map(({ address }) => address);
}
