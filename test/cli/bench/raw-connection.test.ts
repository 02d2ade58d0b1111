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

afterEach(() => {
  server.close();
});

const request = Buffer.from("GET / HTTP/1.1\r\n\r\n");

/** A connection, and the server's end of it. */
async function open(): Promise<[RawConnection, Socket]> {
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const connection = await RawConnection.open(url);
  const [socket] = await accepted;
  return [connection, socket];
}

/** An answer longer than what is read at once. */
function longAnswer(letter: string): string {
  const body = letter.repeat(300_000);
  return `HTTP/1.1 201 Created\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Where the pieces of a long answer begin and end: the first in the head, the others longer than what is read at once. */
function pieces(piece: number): [number, number | undefined] {
  const edges = [0, 10, 100_000, 200_000, undefined];
  return [edges[piece] ?? 0, edges[piece + 1]];
}

it("tells the pieces of two answers apart that come at once", async () => {
  const pairs = [await open(), await open()];
  const replies = pairs.map(([connection]) => connection.exchange(request));
  const answers = [longAnswer("a"), longAnswer("b")];
  for (const piece of [0, 1, 2, 3]) {
    for (const [index, [, socket]] of pairs.entries()) {
      socket.write(answers[index]?.slice(...pieces(piece)) ?? "");
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  const [first, second] = await Promise.all(replies);
  expect(first).toEqual({ status: 201, hasRetryAfter: false, body: "a".repeat(300_000) });
  expect(second?.body).toBe("b".repeat(300_000));
  for (const [connection] of pairs) connection.destroy();
});

it.each([
  ["ends", (socket: Socket) => socket.end()],
  ["is reset", (socket: Socket) => socket.resetAndDestroy()],
])("rejects where the connection %s in the middle of an answer", async (_name, lose) => {
  const [connection, socket] = await open();
  const reply = connection.exchange(request);
  socket.write(longAnswer("a").slice(0, 100_000), () => lose(socket));
  await expect(reply).rejects.toThrow();
  expect(connection.isOpen).toBe(false);
});
