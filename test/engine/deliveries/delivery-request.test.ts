// Where requests to receivers go: a real listener on this machine counts who connects.
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { sendDelivery } from "../../../src/engine/deliveries/delivery-request.ts";

let connections = 0;
let port = 0;
const listener = createServer((socket) => {
  connections += 1;
  socket.on("error", () => undefined);
  socket.destroy();
});

beforeAll(async () => {
  await once(listener.listen(0, "127.0.0.1"), "listening");
  ({ port } = listener.address() as AddressInfo);
});

beforeEach(() => {
  connections = 0;
});

afterAll(() => {
  listener.close();
});

const send = (host: string, allowsPrivate: boolean) =>
  sendDelivery(
    { url: `https://${host}:${port}/`, body: "{}", signature: "t=1,v1=00" },
    { allowsPrivate, timeoutMs: 5_000 },
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
  expect(await send("localhost", false)).toBe(
    "localhost has no public address, and this server sends to no other",
  );
  expect(connections).toBe(0);
});

test("both are connected to where private addresses are allowed", async () => {
  await send("localhost", true);
  await send("127.1", true);
  expect(connections).toBe(2);
});
