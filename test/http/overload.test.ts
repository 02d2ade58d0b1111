// A ledger whose lane is full: more writes are rejected before their bodies come, and nothing else is.
import { once } from "node:events";
import { connect } from "node:net";
import { Client } from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entriesPath } from "../support/entries.ts";
import { countRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";
import { nowSeconds, sign, type Credentials } from "../support/signed-request.ts";
import { accepted, move, movement, newKey, readFigures, walletPath } from "../support/wallets.ts";

const lines: string[] = [];
const log = pino({ level: "warn" }, { write: (line) => lines.push(line) });
const burst = 10_000;
// Nothing comes in while a test runs.
const service = serveBooks({ log, rateLimit: { perSecond: 1 / 3_600, burst } });
const logged = "SELECT FROM wallet_writes WHERE ledger_id = $1";
let client: Client;

beforeAll(async () => {
  client = new Client({ connectionString: service.books.databaseUrl });
  await client.connect();
});

afterAll(async () => {
  await client.end();
});

const told = () => lines.map((line) => JSON.parse(line) as { msg: string; requests?: number });
/** Requests of this file that were rejected. */
let rejected = 0;
const countRejections = () => told().reduce((sum, { requests }) => sum + (requests ?? 0), 0);

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
  if (answer.startsWith("HTTP/1.1 503 ")) rejected += 1;
  return answer;
}

/**
 * Holds the row of a ledger's state while 2,000 writes to a wallet of it wait, until more are rejected.
 * Resolves with what became of the 2,000.
 */
async function whileOverloaded(
  ledgerId: string,
  act: (path: string, answer: string) => Promise<void>,
): Promise<unknown[]> {
  const path = walletPath(newKey(service, ledgerId), "credit");
  const writes = Array.from({ length: 1_000 }, () => ({
    ...movement(1),
    callerKey: "overload",
    type: "credit",
  }));
  await client.query("BEGIN");
  await client.query("SELECT FROM ledger_states WHERE ledger_id = $1 FOR UPDATE", [ledgerId]);
  const waiting = [1, 2].map(() =>
    service.post(`/v1/ledgers/${ledgerId}/wallet-writes`, { writes }),
  );
  // Unsigned, it is answered 401 until it is rejected.
  let answer = "";
  const ask = async () => (answer = await answerTo(path));
  await expect.poll(ask).not.toMatch(/^HTTP\/1\.1 401 /);
  await act(path, answer);
  await client.query("ROLLBACK");
  return (await Promise.all(waiting)).flatMap(({ body }) =>
    (body as { results: { status: unknown }[] }).results.map(({ status }) => status),
  );
}

test("writes to a full lane are answered 503 before their bodies come; others are served, and what waits is done", async () => {
  const ledgerId = await service.books.createLedger();
  const key = newKey(service, ledgerId);
  const statuses = await whileOverloaded(ledgerId, async (path, answer) => {
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/\r\nretry-after: [1-3]\r\n/i);
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

/** Sends a write but for its body; resolves when it is admitted, with what sends the body and reads the answer. */
async function beginWrite(
  target: string,
  value: object,
  { apiKey, apiSecret }: Credentials,
): Promise<() => Promise<string>> {
  const body = JSON.stringify(value);
  const timestamp = String(nowSeconds());
  const signature = sign(apiSecret, { timestamp, method: "POST", target, body });
  const socket = connect(service.port, "127.0.0.1").setEncoding("latin1");
  socket.write(
    `POST ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nX-Timestamp: ${timestamp}\r\n` +
      `X-Signature: ${signature}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      "Expect: 100-continue\r\n\r\n",
  );
  // Its head has been read, and admitted, when its body is asked for.
  expect(await once(socket, "data")).toEqual(["HTTP/1.1 100 Continue\r\n\r\n"]);
  return async () => {
    socket.write(body);
    const [answer] = (await once(socket, "data")) as [string];
    socket.destroy();
    return answer;
  };
}

test("what is answered 503 costs nothing of a key's rate limit, by itself and in a bulk", async () => {
  const ledgerId = await service.books.createLedger();
  const credentials = await service.books.createKey();
  const path = walletPath(newKey(service, ledgerId), "credit");
  const finishOne = await beginWrite(path, movement(1), credentials);
  const write = { ...movement(1), callerKey: "b", type: "credit" };
  const writes = [write, { ...write, amount: "x" }, write];
  const bulk = `/v1/ledgers/${ledgerId}/wallet-writes`;
  const finishBulk = await beginWrite(bulk, { writes }, credentials);
  await whileOverloaded(ledgerId, async () => {
    expect(await finishOne()).toMatch(
      new RegExp(`^HTTP/1.1 503 [^]*\r\nratelimit: "default";r=${burst};`, "i"),
    );
    rejected += 1;
    const answer = await finishBulk();
    const statuses = [...answer.matchAll(/"status":(\d+)/g)].map(([, status]) => Number(status));
    expect(statuses).toEqual([503, 400, 503]);
    expect(answer).toContain(`\r\nratelimit: "default";r=${burst - 1};`);
  });
});

test("rejections are logged by their number, those of requests that had begun in time too", async () => {
  const ledgerId = await service.books.createLedger();
  const path = walletPath(newKey(service, ledgerId), "credit");
  const finish = await beginWrite(path, movement(1), await service.books.createKey());
  await whileOverloaded(ledgerId, async () => {
    const answer = await finish();
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/\r\nretry-after: [1-3]\r\n/i);
    rejected += 1;
  });
  await expect.poll(countRejections).toBe(rejected);
  expect(told().filter(({ msg }) => msg === "request")).toEqual([]);
});
