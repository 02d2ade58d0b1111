// How much of long answers is buffered for their readers.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { ResponseBuffer } from "../../src/http/response-buffer.ts";

test("an answer that is made for nobody any more is not counted", async () => {
  const bytesMax = 1_000_000;
  const buffer = new ResponseBuffer(bytesMax);
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
  buffer.reserve(gone.response, bytesMax, "somebody");
  const there = await ask();
  expect(buffer.reserve(there.response, bytesMax, "somebody")).toBe(true);
  expect(buffer.reserve(there.response, bytesMax, "somebody")).toBe(false);
  there.socket.destroy();
  server.close();
});
