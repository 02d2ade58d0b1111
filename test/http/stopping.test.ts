// What clients are answered that send requests while the server is told to stop.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { entriesPath, entry } from "../support/entries.ts";
import { Client } from "pg";
import { countRows } from "../support/rows.ts";
import { signedRequestBytes } from "../support/signed-request.ts";
import { movement, newKey, walletPath } from "../support/wallets.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";

let books: TestBooks;
let service: TestService;

beforeEach(async () => {
  books = await createBooks();
  service = await startService(books, { variables: { LEDGERCTL_GRACE_MS: "10000" } });
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

test("new connections are refused at once, while open ones are still answered", async () => {
  const used = await openIdle();
  const unused = await open();
  const closed = [used, unused].map(({ socket }) => once(socket, "close"));
  const stopped = service.stop();
  await expect.poll(() => isRefused(service.port), { interval: 10 }).toBe(true);
  for (const { socket } of [used, unused]) socket.write(post());
  await Promise.all(closed);
  for (const { answers } of [used, unused]) {
    expect(answers().at(-1)).toMatch(/^HTTP\/1\.1 201 [^]*^connection: close\r$/im);
  }
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

/** Asks for the server's health and resolves with the answer: what came before it has been read by then. */
async function roundTrip({ socket, answers }: Awaited<ReturnType<typeof open>>): Promise<string> {
  const count = answers().length;
  socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  await expect.poll(answers).toHaveLength(count + 1);
  return answers().at(-1) ?? "";
}

test("what comes after an answer that is to be the last has no effect", async () => {
  const { ledgerId, credentials, databaseUrl } = books;
  const { socket, answers } = await openIdle();
  const [witness, ...others] = [await open(), await open(), await open(), await open()];
  for (const connection of [witness, ...others]) await roundTrip(connection);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT FROM journal_heads WHERE ledger_id = $1 FOR UPDATE", [ledgerId]);
  const closed = once(socket, "close");
  socket.write(post());
  await roundTrip(witness);
  const stopped = service.stop();
  socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  // Its answer is made by then, and waits for that of the entry.
  for (const connection of [witness, ...others.slice(1)]) {
    expect(await roundTrip(connection)).toMatch(/^connection: close\r$/im);
  }
  const target = walletPath(newKey(service), "credit");
  socket.write(signedRequestBytes({ credentials, target, body: JSON.stringify(movement(5)) }));
  expect(await roundTrip(others[0])).toMatch(/^connection: close\r$/im);
  await client.end();
  await closed;
  expect(answers().map((answer) => answer.slice(9, 12))).toEqual(["201", "201", "200"]);
  expect(answers().at(-1)).toMatch(/^connection: close\r$/im);
  await stopped;
  const writes = "SELECT FROM wallet_writes WHERE ledger_id = $1";
  expect(await countRows(service, writes, [ledgerId])).toBe(0);
});

test("every request that is started is answered, however many are under way on each connection", async () => {
  const { ledgerId, credentials } = books;
  const target = walletPath(newKey(service), "credit");
  const body = JSON.stringify(movement(1));
  const credit = () => signedRequestBytes({ credentials, target, body });
  const underWay = 8;
  const connections = await Promise.all(Array.from({ length: 8 }, open));
  const closed = Promise.all(
    connections.map(({ socket }) => new Promise((resolve) => socket.once("close", resolve))),
  );
  const accepted = () =>
    connections
      .flatMap(({ answers }) => answers())
      .filter((answer) => answer.startsWith("HTTP/1.1 200 ")).length;
  for (const { socket, answers } of connections) {
    socket.on("error", () => undefined);
    let asked = 0;
    const ask = () => {
      for (; asked < answers().length + underWay; asked += 1) socket.write(credit());
    };
    socket.on("data", ask);
    ask();
  }
  await expect.poll(accepted).toBeGreaterThan(100);
  const stopped = service.stop();
  await closed;
  await stopped;
  const writes = "SELECT FROM wallet_writes WHERE ledger_id = $1";
  expect(await countRows(service, writes, [ledgerId])).toBe(accepted());
});

test("an answer whose reader takes its time is not cut before the grace period is over", async () => {
  const { credentials, ledgerId } = books;
  const line = { description: "x".repeat(1_000), glAccountCode: "1000" };
  const lines = Array.from({ length: 600 }, (_, index) => ({
    ...line,
    functionalAmount: String(index % 2 === 0 ? 1 : -1),
  }));
  for (let index = 0; index < 12; index += 1) {
    expect((await service.post(entriesPath(ledgerId), { lines })).status).toBe(201);
  }
  const idle = await openIdle();
  const { socket, answers } = await open();
  const closed = Promise.all([once(socket, "close"), once(idle.socket, "close")]);
  const target = `${entriesPath(ledgerId)}?limit=100`;
  socket.write(signedRequestBytes({ credentials, target }));
  await once(socket, "data");
  socket.pause();
  const stopped = service.stop();
  // From here on the server waits for what is under way only.
  await expect.poll(() => isRefused(service.port)).toBe(true);
  await expect.poll(() => isRefused(service.port)).toBe(true);
  socket.resume();
  await closed;
  const [head = "", page = ""] = answers().join("").split("\r\n\r\n");
  expect(page).toHaveLength(Number(/^content-length: (\d+)\r?$/im.exec(head)?.[1]));
  await stopped;
});

/** Whether nobody listens on a port. */
async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const refused = await Promise.race([
    once(socket, "connect").then(() => false),
    once(socket, "error").then(() => true),
  ]).catch(() => true);
  socket.destroy();
  return refused;
}

test("clients that never go away do not hold it up", async () => {
  await service.stop();
  service = await startService(books, { variables: { LEDGERCTL_GRACE_MS: "2000" } });
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
