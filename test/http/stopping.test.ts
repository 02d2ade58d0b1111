// What clients hear that send requests while the server is told to stop.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { entriesPath, entry } from "../support/entries.ts";
import { signedRequestBytes } from "../support/signed-request.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";

let books: TestBooks;
let service: TestService;

beforeEach(async () => {
  books = await createBooks();
  service = await startService(books);
});

afterEach(async () => {
  await books.drop();
});

const post = () =>
  signedRequestBytes({
    credentials: books.credentials,
    target: entriesPath(books.ledgerId),
    body: JSON.stringify(entry()),
  });

/** An open connection, and all that has come over it. */
async function open(): Promise<{ socket: Socket; answers: () => string[] }> {
  const socket = connect(service.port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  await once(socket, "connect");
  return { socket, answers: () => text.split(/(?=HTTP\/1\.1 )/).filter((part) => part !== "") };
}

async function openIdle() {
  const connection = await open();
  connection.socket.write(post());
  await expect.poll(connection.answers).toHaveLength(1);
  return connection;
}

test("a request that crosses the stop on an idle connection is answered, and the last there", async () => {
  const used = await Promise.all([openIdle(), openIdle(), openIdle()]);
  const unused = await open();
  const connections = [...used, unused];
  const closed = connections.map(({ socket }) => once(socket, "close"));
  const stopped = service.stop();
  for (const { socket } of connections) socket.write(post());
  await Promise.all(closed);
  for (const { answers } of connections) {
    expect(answers().at(-1)).toMatch(/^HTTP\/1\.1 201 [^]*^connection: close\r$/im);
  }
  expect(used[0].answers()[0]).not.toMatch(/^connection: close\r$/im);
  await stopped;
});

test("requests in a row are all answered, and only the last says that it is", async () => {
  const { socket, answers } = await openIdle();
  const closed = once(socket, "close");
  const stopped = service.stop();
  socket.write(Buffer.concat([post(), post(), post()]));
  await closed;
  const statuses = answers().map((answer) => answer.slice(9, 12));
  expect(statuses).toEqual(["201", "201", "201", "201"]);
  expect(answers().map((answer) => /^connection: close\r$/im.test(answer))).toEqual([
    false,
    false,
    false,
    true,
  ]);
  await stopped;
});

test("clients that never go away do not hold it up", async () => {
  const { socket } = await openIdle();
  const busy = await openIdle();
  busy.socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx");
  const closed = Promise.all([once(socket, "close"), once(busy.socket, "close")]);
  await service.stop();
  await closed;
  const again = connect(service.port, "127.0.0.1");
  const [error] = (await once(again, "error")) as [NodeJS.ErrnoException];
  expect(error.code).toBe("ECONNREFUSED");
});
