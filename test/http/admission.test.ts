// What a client that is rejected is told to wait, and whose rejections wait.
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { overloadRefusal, Refusal } from "../../src/core/errors.ts";
import { limitConnections, pacedAs, retryAfterSeconds } from "../../src/http/admission.ts";

test("Retry-After is 1, 2 or 3 seconds, at random", () => {
  const values = Array.from({ length: 1_000 }, retryAfterSeconds);
  expect([...new Set(values)].sort()).toEqual(["1", "2", "3"]);
});

test("rejections for overload and over a rate limit are paced, but on a connection over the limit", async () => {
  const server = createServer();
  limitConnections(server, 1, { connections: 0 });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const accepted: Socket[] = [];
  server.on("connection", (socket: Socket) => accepted.push(socket));
  const { port } = server.address() as AddressInfo;
  const clients = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
  await expect.poll(() => accepted.length).toBe(2);
  const errors = [
    overloadRefusal("too much"),
    new Refusal("rateLimited", "too often"),
    new Refusal("unavailable", "the database is away"),
    new Error("a bug"),
  ];
  const [within, over] = accepted.map((socket) => errors.map((error) => pacedAs(error, socket)));
  expect(within).toEqual(["overload", "rateLimited", null, null]);
  expect(over).toEqual([null, null, null, null]);
  for (const client of clients) client.destroy();
  await new Promise((resolve) => server.close(resolve));
});
