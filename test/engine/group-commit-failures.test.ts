// Trouble that meets two batches at once: one that is being committed, and the one whose locks travel behind.
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Journal } from "../../src/engine/journal.ts";
import { Wallets } from "../../src/engine/wallets.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { entryDraft, line } from "../support/entry-drafts.ts";
import { openForgettingProxy, type ForgettingProxy } from "../support/forgetting-proxy.ts";
import { readRows } from "../support/rows.ts";
import { createBooks, type TestBooks } from "../support/service.ts";

let books: TestBooks;
let proxy: ForgettingProxy;
let connections: Pool;

beforeAll(async () => {
  books = await createBooks();
  proxy = await openForgettingProxy(books.databaseUrl);
  connections = new Pool({
    databaseUrl: proxy.url,
    connectionsMax: 4,
    lockTimeoutMs: 200,
    answerTimeoutMs: 10_000,
  });
});

afterAll(async () => {
  await connections.end();
  proxy.close();
  await books.drop();
});

const limits = {
  batchItemsMax: 500,
  batchBytesMax: 1_000_000,
  queueItemsMax: 10_000,
  queueBytesMax: 10_000_000,
  laneItemsMax: 10_000,
  laneBytesMax: 10_000_000,
  laneWaitMsMax: 60_000,
  largeBatchItems: 3,
  deadlineMs: 20_000,
  nowMs: () => performance.now(),
  onFailure: () => undefined,
};

async function newLedger() {
  return {
    ledgerId: await books.createLedger(),
    organizationId: books.organizationId,
    functionalCurrency: "USD",
  };
}

/**
 * Writes once, and again while that is under way; the connection is forgotten with the COMMIT of the one and
 * the locks of the other. The database thinks that the second is still to come, and keeps its locks.
 */
async function writeTwice<Reply>(write: () => Promise<Reply>, lock: string) {
  const forgotten = proxy.forgetAfter("COMMIT\0", lock);
  const first = write();
  await nextTurn();
  await nextTurn();
  const second = write();
  second.catch(() => undefined);
  await forgotten;
  return { first, second };
}

test("a batch of wallets is known to be recorded while a forgotten connection has locks for the next", async () => {
  const wallets = new Wallets(connections, limits, () => undefined);
  const ledger = await newLedger();
  const credit = () =>
    wallets.write(
      ledger,
      {
        type: "credit",
        callerKey: "w",
        amount: 5n,
        assetCode: "USD",
        externalId: null,
        metadata: null,
      },
      100,
    );
  await credit();
  const { first, second } = await writeTwice(credit, "FROM wallets AS locked");
  expect(await first).toMatchObject({ status: "accepted", balance: 10n });
  proxy.remember();
  expect(await second).toMatchObject({ status: "accepted", balance: 15n });
  await wallets.lanes.drain();
  expect(wallets.lanes.state).toMatchObject({ writes: 0, bytes: 0 });
  const rows = await readRows(
    { books },
    "SELECT seq::integer FROM wallet_writes WHERE ledger_id = $1 ORDER BY seq",
    [ledger.ledgerId],
  );
  expect(rows).toEqual([{ seq: 1 }, { seq: 2 }, { seq: 3 }]);
});

test("a batch of entries is known to be recorded while a forgotten connection has locks for the next", async () => {
  const journal = new Journal(connections, limits);
  const ledger = await newLedger();
  const draft = entryDraft([line("1000", 5n), line("2000", -5n)]);
  const post = () => journal.postEntry(ledger, draft, 100);
  await post();
  const { first, second } = await writeTwice(post, "FROM journal_heads");
  const { journalId } = await first;
  proxy.remember();
  const ids = [journalId, (await second).journalId];
  await journal.lanes.drain();
  expect(journal.lanes.state).toMatchObject({ writes: 0, bytes: 0 });
  const rows = await readRows(
    { books },
    `SELECT journal_id AS "journalId" FROM journal_entries WHERE ledger_id = $1
      ORDER BY sequence OFFSET 1`,
    [ledger.ledgerId],
  );
  expect(rows).toEqual(ids.map((id) => ({ journalId: id })));
});
