// How much of long answers is held for their readers.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { HeldAnswers } from "../../src/http/connections.ts";

test("an answer that is made for nobody any more does not count as held", async () => {
  const bytesMax = 1_000_000;
  const held = new HeldAnswers(bytesMax);
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const ask = async (): Promise<{ socket: Socket; response: ServerResponse }> => {
    const socket = connect(port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
    return { socket, response };
  };
  const gone = await ask();
  gone.socket.destroy();
  await expect.poll(() => gone.response.closed).toBe(true);
  held.hold(gone.response, bytesMax, "somebody");
  const there = await ask();
  expect(held.hold(there.response, bytesMax, "somebody")).toBe(true);
  expect(held.hold(there.response, bytesMax, "somebody")).toBe(false);
  there.socket.destroy();
  server.close();
});
