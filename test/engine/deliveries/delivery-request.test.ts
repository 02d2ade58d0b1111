// Where requests to receivers go: a real listener on this machine counts who connects.
import { getEventListeners, once } from "node:events";
import { createSocket } from "node:dgram";
import { createServer, type AddressInfo } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { sendDelivery } from "../../../src/engine/deliveries/delivery-request.ts";
import { certificate } from "../../support/certificates.ts";

let connections = 0;
let port = 0;
const listener = createServer((socket) => {
  connections += 1;
  socket.on("error", () => undefined);
  socket.destroy();
});

/** A nameserver for which every name is an address of this machine, but for those with `silent` in them: it does not answer for these. */
const nameserver = createSocket("udp4");
nameserver.on("message", (query, from) => {
  if (query.includes("silent")) return;
  const isIpv4 = query.readUInt16BE(query.indexOf(0, 12) + 1) === 1;
  const answer = Buffer.from("c00c00010001000000050004" + "7f000001", "hex");
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isIpv4 ? 1 : 0]);
  const question = query.subarray(12, query.indexOf(0, 12) + 5);
  const parts = [header, Buffer.alloc(4), question, ...(isIpv4 ? [answer] : [])];
  nameserver.send(Buffer.concat(parts), from.port, from.address);
});

beforeAll(async () => {
  await once(listener.listen(0, "127.0.0.1"), "listening");
  ({ port } = listener.address() as AddressInfo);
  nameserver.bind(0, "127.0.0.1");
  await once(nameserver, "listening");
});

beforeEach(() => {
  connections = 0;
});

afterAll(() => {
  listener.close();
  nameserver.close();
});

const send = (host: string, allowsPrivate: boolean, toPort = port, timeoutMs = 5_000) =>
  sendDelivery(
    { url: `https://${host}:${toPort}/`, body: "{}", signature: "t=1,v1=00" },
    { allowsPrivate, timeoutMs, nameservers: [`127.0.0.1:${nameserver.address().port}`] },
    new AbortController().signal,
  );

test.each([
  ...["127.0.0.1", "127.1", "0x7f.1", "2130706433", "0.0.0.0", "127.0.0.1.", "１２７.0.0.1"],
  ...["[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "user@127.0.0.1"],
])("nothing is sent to %s, whoever stored it", async (host) => {
  expect(await send(host, false)).toMatch(/^the URL /);
  expect(connections).toBe(0);
});

test("a name is looked at when it is connected to, and what it resolves to is not told", async () => {
  expect(await send("inside.example.com", false)).toBe(
    "inside.example.com has no public address, and this server sends to no other",
  );
  expect(connections).toBe(0);
});

test("nobody listens to the signal of a request that has ended", async () => {
  const any = vi.spyOn(AbortSignal, "any");
  await send("inside.example.com", false);
  const [ended] = any.mock.results.map(({ value }) => value as AbortSignal);
  any.mockRestore();
  expect(ended && getEventListeners(ended, "abort")).toEqual([]);
});

test.each([
  [1_000, "did not answer within 1 s"],
  // Longer than c-ares asks: without an answer it asks again, and ends by itself within some seconds.
  [60_000, "no nameserver answered for its name"],
])("with a limit of %i ms, names nobody answers for hold up no other", async (limit, failure) => {
  const ended: string[] = [];
  const sendTo = async (host: string) => {
    ended.push((await send(host, false, port, limit)) ?? "accepted");
  };
  const silent = Array.from({ length: 20 }, (_, index) => sendTo(`silent-${index}.example.com`));
  await sendTo("inside.example.com");
  expect(ended).toEqual([expect.stringContaining("no public address")]);
  await Promise.all(silent);
  expect(new Set(ended.slice(1))).toEqual(new Set([failure]));
});

test("both are connected to where private addresses are allowed", async () => {
  await send("localhost", true);
  await send("127.1", true);
  expect(connections).toBe(2);
});

test.each([
  [{ maxVersion: "TLSv1.2", ciphers: "DHE-RSA-AES128-GCM-SHA256", dhparam: "auto" }, "EPROTO"],
  [{ minVersion: "TLSv1.3", ecdhCurve: "ffdhe8192" }, "EPROTO"],
  [{ maxVersion: "TLSv1.2" }, expect.stringContaining("certificate is not accepted")],
] as const)(
  "a receiver can't choose an expensive key exchange: %j ends with %s",
  async (chosen, failure) => {
    const receiver = createTlsServer({ ...certificate, ...chosen });
    receiver.on("tlsClientError", () => undefined);
    await once(receiver.listen(0, "127.0.0.1"), "listening");
    const { port: receiverPort } = receiver.address() as AddressInfo;
    expect(await send("127.0.0.1", true, receiverPort)).toEqual(failure);
    receiver.close();
  },
);
