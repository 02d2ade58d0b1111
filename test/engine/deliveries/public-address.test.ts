// Which addresses deliveries may be sent to.
import { expect, test } from "vitest";
import { receiverUrlFault } from "../../../src/engine/deliveries/delivery-request.ts";
import { isPublicAddress } from "../../../src/engine/deliveries/public-address.ts";

test.each([
  ...["8.8.8.8", "1.1.1.1", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.0.1"],
  ...["172.32.0.1", "192.167.255.255", "223.255.255.255", "11.0.0.1", "169.253.0.1"],
  ...["2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "2400:cb00::1"],
])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  ...["0.0.0.0", "10.0.0.1", "127.0.0.1", "127.255.255.254", "100.64.0.1", "100.127.255.255"],
  ...["169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.0.8", "192.0.2.1"],
  ...[
    "198.18.0.1",
    "198.19.255.255",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "255.255.255.255",
  ],
  ...["::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "ff02::1"],
  // An IPv4 address in an IPv6 one.
  ...["::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::10.0.0.1", "64:ff9b::a00:1"],
  ...["64:ff9b:1::1", "2002:a00:1::1", "2001::1", "2001:db8::1", "100::1", "3fff::1"],
  ...["", "localhost", "1.2.3", "0x7f.1", "127.1"],
])("%s is not", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  ["https://books.example.com/hook?x=1", null],
  ["https://8.8.8.8:8443/", null],
  ["http://books.example.com/", "must be an https:// URL of at most 2048 characters"],
  ["ftp://books.example.com/", "must be an https:// URL of at most 2048 characters"],
  ["books.example.com", "must be an https:// URL of at most 2048 characters"],
  [
    `https://books.example.com/${"x".repeat(2_048)}`,
    "must be an https:// URL of at most 2048 characters",
  ],
  ["https://user@books.example.com/", "must have no user, no password and no fragment"],
  ["https://:secret@books.example.com/", "must have no user, no password and no fragment"],
  ["https://books.example.com/#x", "must have no user, no password and no fragment"],
  ...[
    " https://books.example.com/",
    "https://books.example.com/\0",
    "https://books.\nexample.com/",
  ].map((url): [string, string] => [url, "must have no control character and no space"]),
  ["https://books.example.com/\ud800", "must have no control character and no space"],
  ["https://0.0.0.0/", "0.0.0.0 is no public address, and this server sends to no other"],
  ["https://100.64.0.1/", "100.64.0.1 is no public address, and this server sends to no other"],
  // Forms of 127.0.0.1 that a URL makes one of.
  ...["127.0.0.1", "127.1", "0x7f.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1."].map(
    (host): [string, string] => [
      `https://${host}/`,
      "127.0.0.1 is no public address, and this server sends to no other",
    ],
  ),
  [
    "https://[::ffff:127.0.0.1]/",
    "::ffff:7f00:1 is no public address, and this server sends to no other",
  ],
  ["https://[::1]/", "::1 is no public address, and this server sends to no other"],
])("of the URL %s: %s", (url, fault) => {
  expect(receiverUrlFault(url, false)).toBe(fault);
});

test("a server that allows private addresses takes them, and plain HTTP all the same not", () => {
  expect(receiverUrlFault("https://10.0.0.1/", true)).toBeNull();
  expect(receiverUrlFault("http://10.0.0.1/", true)).not.toBeNull();
});
