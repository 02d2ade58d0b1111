// The connections of a benchmark's load: answers that come in pieces, and connections that are lost.
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { RawConnection } from "../../../src/cli/commands/bench/raw-connection.ts";

const server = createServer();
let url: URL;

beforeEach(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(async () => {
  for (const socket of accepted.splice(0)) socket.destroy();
  if (server.listening) await once(server.close(), "close");
});

const request = Buffer.from("GET / HTTP/1.1\r\n\r\n");
const accepted: Socket[] = [];

/** A connection, and the server's end of it. */
async function open(): Promise<[RawConnection, Socket]> {
  const connected = once(server, "connection") as Promise<[Socket]>;
  const connection = await RawConnection.open(url);
  const [socket] = await connected;
  accepted.push(socket.resume());
  return [connection, socket];
}

/** Longer than what is read at once, and nowhere the same. */
function longBody(name: string): string {
  return Array.from({ length: 30_000 }, (_, number) => `${name}${number};`).join("");
}

function answerOf(body: string): string {
  return `HTTP/1.1 201 Created\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

it("keeps the pieces of two answers apart that arrive together", async () => {
  const names = ["a", "b"];
  const ends = [await open(), await open()];
  const replies = ends.map(([connection]) => connection.exchange(request));
  const answers = names.map((name) => answerOf(longBody(name)));
  // The first piece ends within the head.
  for (const [begin, end] of [[0, 10], [10, 80_000], [80_000, 160_000], [160_000]]) {
    for (const [index, [, socket]] of ends.entries()) {
      socket.write(answers[index]?.slice(begin, end) ?? "");
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await Promise.all(replies)).toEqual(
    names.map((name) => ({ status: 201, hasRetryAfter: false, body: longBody(name) })),
  );
  for (const [connection] of ends) connection.destroy();
});

it("rejects where nobody listens", async () => {
  await once(server.close(), "close");
  await expect(RawConnection.open(url)).rejects.toThrow("ECONNREFUSED");
});

it.each([
  ["ends", (socket: Socket) => socket.end()],
  ["is reset", (socket: Socket) => socket.resetAndDestroy()],
])("rejects when the connection %s in the middle of an answer", async (_name, lose) => {
  const [connection, socket] = await open();
  const reply = connection.exchange(request);
  socket.write(answerOf(longBody("a")).slice(0, 100_000), () => lose(socket));
  await expect(reply).rejects.toThrow();
  expect(connection.isOpen).toBe(false);
});
