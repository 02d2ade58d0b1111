// A ledger whose writes wait too long: more of them are turned away unread, and nobody else is.
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entriesPath } from "../support/entries.ts";
import { countRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";
import { nowSeconds, sign } from "../support/signed-request.ts";
import { accepted, move, movement, newKey, readFigures, walletPath } from "../support/wallets.ts";

const lines: string[] = [];
const log = pino({ level: "warn" }, { write: (line) => lines.push(line) });
const service = serveBooks({ log });
const logged = "SELECT FROM wallet_writes WHERE ledger_id = $1";
let client: Client;

beforeAll(async () => {
  client = new Client({ connectionString: service.books.databaseUrl });
  await client.connect();
});

afterAll(async () => {
  await client.end();
});

/** What comes back for the head of a request whose body does not come, or, where nothing does, for its body. */
async function answerTo(path: string): Promise<string> {
  const socket = connect(service.port, "127.0.0.1");
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n`,
  );
  const late = setTimeout(() => socket.write("x".repeat(50)), 200);
  let answer = "";
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString("latin1");
    socket.destroy();
  });
  await once(socket, "close");
  clearTimeout(late);
  return answer;
}

/**
 * Holds the row of a ledger's state while 2,000 writes to a wallet of it wait, until more are turned away.
 * Resolves with what became of the 2,000.
 */
async function whileCrowded(
  ledgerId: string,
  act: (path: string, answer: string) => Promise<void>,
): Promise<unknown[]> {
  const path = walletPath(newKey(service, ledgerId), "credit");
  const writes = Array.from({ length: 1_000 }, () => ({
    ...movement(1),
    callerKey: "crowd",
    type: "credit",
  }));
  await client.query("BEGIN");
  await client.query("SELECT FROM ledger_states WHERE ledger_id = $1 FOR UPDATE", [ledgerId]);
  const waiting = [1, 2].map(() =>
    service.post(`/v1/ledgers/${ledgerId}/wallet-writes`, { writes }),
  );
  let answer = await answerTo(path);
  while (answer.startsWith("HTTP/1.1 401 ")) {
    await sleep(50);
    answer = await answerTo(path);
  }
  await act(path, answer);
  await client.query("ROLLBACK");
  return (await Promise.all(waiting)).flatMap(({ body }) =>
    (body as { results: { status: unknown }[] }).results.map(({ status }) => status),
  );
}

test("writes of a crowded ledger are answered 503 before their bodies come; others are served, and what waits is done", async () => {
  const ledgerId = await service.books.createLedger();
  const key = newKey(service, ledgerId);
  const statuses = await whileCrowded(ledgerId, async (path, answer) => {
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/\r\nretry-after: 1\r\n/i);
    expect(answer).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/i);
    expect(answer).toContain('{"error":"too many writes are waiting; try again in a moment"}');
    expect(await answerTo(path.replace("credit", "reserve"))).toMatch(/^HTTP\/1\.1 503 /);
    expect(await answerTo(`/v1/ledgers/${ledgerId}/wallet-writes`)).toMatch(
      /^HTTP\/1\.1 503 [\s\S]*"code":"UNAVAILABLE"/,
    );
    expect(await answerTo(entriesPath(ledgerId))).toMatch(/^HTTP\/1\.1 401 /);
    accepted(await move(service, newKey(service), "credit", 5));
    expect(await readFigures(service, key)).toEqual({ balance: "0", available: "0" });
  });
  // On a machine that is slow some may have waited in vain, which they were told.
  const done = statuses.filter((status) => status === "accepted").length;
  expect(statuses.filter((status) => status !== "accepted" && status !== 503)).toEqual([]);
  expect(await countRows(service, logged, [ledgerId])).toBe(done);
  accepted(await move(service, key, "credit", 5));
});

test("a client that was turned away is not heard again before its time", async () => {
  await whileCrowded(await service.books.createLedger(), async (path) => {
    const socket = connect(service.port, "127.0.0.1");
    const answers: string[] = [];
    socket.on("data", (chunk: Buffer) => answers.push(chunk.toString("latin1")));
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`);
    await once(socket, "data");
    expect(answers.join("")).toMatch(/^HTTP\/1\.1 503 /);
    const refusedMs = performance.now();
    socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "data");
    expect(answers.at(-1)).toMatch(/^HTTP\/1\.1 200 /);
    expect(performance.now() - refusedMs).toBeGreaterThan(900);
    socket.destroy();
  });
});

test("all who are turned away are told by their number, those too who had begun in time", async () => {
  const ledgerId = await service.books.createLedger();
  const path = walletPath(newKey(service, ledgerId), "credit");
  const { apiKey, apiSecret } = service.books.credentials;
  const body = JSON.stringify(movement(1));
  const timestamp = String(nowSeconds());
  const signature = sign(apiSecret, { timestamp, method: "POST", target: path, body });
  const early = connect(service.port, "127.0.0.1");
  let answer = "";
  early.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  early.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nX-Timestamp: ${timestamp}\r\n` +
      `X-Signature: ${signature}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      "Expect: 100-continue\r\n\r\n",
  );
  // Its head has been read, and found room, when its body is asked for.
  await once(early, "data");
  expect(answer).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  answer = "";
  // Those of other tests are told within a second.
  await sleep(1_100);
  lines.length = 0;
  await whileCrowded(ledgerId, async () => {
    early.write(body);
    await once(early, "data");
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/\r\nretry-after: 1\r\n/i);
  });
  early.destroy();
  const told = () => lines.map((line) => JSON.parse(line) as { msg: string; requests?: number });
  const number = () => told().reduce((sum, { requests }) => sum + (requests ?? 0), 0);
  // This one, and the one that found the ledger crowded.
  await expect.poll(number, { timeout: 5_000 }).toBe(2);
  expect(told().filter(({ msg }) => msg === "request")).toEqual([]);
});
