// What a server holds for connections on which nothing is under way.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { entriesPath } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function bufferedBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

test("the bodies of answered requests are let go while their connections stay open", async () => {
  const bodyBytes = 1_000_000;
  const connections = 40;
  const body = Buffer.alloc(bodyBytes, " ");
  const path = entriesPath(service.books.ledgerId);
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
  const before = bufferedBytes();
  const sockets: Socket[] = [];
  for (let number = 0; number < connections; number += 1) {
    const socket = connect(service.port, "127.0.0.1");
    sockets.push(socket);
    socket.write(head);
    socket.write(body);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString("latin1")).toMatch(/^HTTP\/1\.1 401 /);
  }
  await expect
    .poll(() => bufferedBytes() - before, { interval: 500 })
    .toBeLessThan((connections * bodyBytes) / 4);
  for (const socket of sockets) expect(socket.destroyed).toBe(false);
  for (const socket of sockets) socket.destroy();
});
