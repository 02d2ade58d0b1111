// What the log tells of an outage of the database that the server waits out.
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openCuttingProxy, type CuttingProxy } from "../support/cutting-proxy.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { openStream } from "../support/stream-reader.ts";
import { accepted, move, newKey } from "../support/wallets.ts";

type Line = Readonly<Record<string, unknown>>;

const lines: Line[] = [];
const waiting = new Set<() => void>();
let books: TestBooks;
let proxy: CuttingProxy;
let service: TestService;

beforeAll(async () => {
  books = await createBooks();
  proxy = await openCuttingProxy(books.databaseUrl);
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Line);
      for (const look of waiting) look();
      done();
    },
  });
  service = await startService(books, {
    databaseUrl: proxy.url,
    log: pino({ level: "info" }, destination),
    variables: { LEDGERCTL_POST_INTERVAL_MS: "20" },
  });
});

afterAll(async () => {
  await service.stop();
  await proxy.close();
  await books.drop();
});

/** Resolves when a line of the log ends with these words. */
function logged(words: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!lines.some(({ msg }) => String(msg).endsWith(words))) return;
      waiting.delete(look);
      resolve();
    };
    waiting.add(look);
    look();
  });
}

test("an outage is a warning when it begins and one when it is over, without a stack", async () => {
  const key = newKey(service);
  const reader = await openStream(service, key);
  await proxy.goAway();
  await logged("not ready");
  await logged("posting wallets fails; it is tried again");
  await logged("reading the logs of wallets for streams fails; it is tried again");
  await logged("summing entries by day fails; it is tried again");
  expect((await move(service, key, "credit", 1)).status).toBe(503);
  await proxy.comeBack();
  await logged("posting wallets succeeds again");
  await logged("reading the logs of wallets for streams succeeds again");
  await logged("summing entries by day succeeds again");
  await logged("ready again");
  accepted(await move(service, key, "credit", 1));
  await reader.end();
  const warn = 40;
  expect(lines.filter(({ level }) => Number(level) > warn)).toEqual([]);
  expect(lines.filter((line) => JSON.stringify(line).includes("    at "))).toEqual([]);
  // Digests may have been made before the outage, or be interrupted by it.
  const work = lines
    .map(({ msg }) => String(msg))
    .filter((msg) => msg !== "request" && !msg.startsWith("making digests of wallets' logs "));
  expect(work.sort()).toEqual([
    "delivering events fails; it is tried again",
    "delivering events succeeds again",
    "not ready",
    "posting wallets fails; it is tried again",
    "posting wallets succeeds again",
    "reading the logs of wallets for streams fails; it is tried again",
    "reading the logs of wallets for streams succeeds again",
    "ready again",
    "summing entries by day fails; it is tried again",
    "summing entries by day succeeds again",
  ]);
});
