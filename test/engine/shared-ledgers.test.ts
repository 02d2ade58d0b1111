// A ledger to which others write: the batches of those who wait for their answers become one.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LedgerIdentity } from "../../src/core/ledger.ts";
import { Journal } from "../../src/engine/journal.ts";
import { Wallets } from "../../src/engine/wallets.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { lockLedgerStateShared } from "../../src/store/ledger-states.ts";
import { clientCount, inTurns, writeInClosedLoop, writesOfEach } from "../support/closed-loop.ts";
import { entryDraft, line } from "../support/entry-drafts.ts";
import { createBooks, type TestBooks } from "../support/service.ts";
import { credit, laneLimits } from "../support/wallet-batches.ts";

let books: TestBooks;
let pool: Pool;
let journal: Journal;
let wallets: Wallets;

beforeAll(async () => {
  books = await createBooks();
  const { databaseUrl } = books;
  pool = new Pool({ databaseUrl, connectionsMax: 4, answerTimeoutMs: 20_000 });
  journal = new Journal(pool, laneLimits);
  wallets = new Wallets(pool, laneLimits, () => undefined);
});

afterAll(async () => {
  await pool.end();
  await books.drop();
});

async function batchSizes(
  { counts }: Journal | Wallets,
  write: (client: number) => Promise<unknown>,
): Promise<number[]> {
  const sizes: number[] = [];
  counts.onBatch = (writes) => sizes.push(writes);
  await writeInClosedLoop(write);
  return sizes;
}

const draft = entryDraft([line("1000", 5n), line("4000", -5n)]);

test.each([
  {
    of: "the journal",
    sizesIn: (ledger: LedgerIdentity) =>
      batchSizes(journal, () => journal.postEntry(ledger, draft, 100)),
  },
  {
    of: "wallets",
    sizesIn: (ledger: LedgerIdentity) =>
      batchSizes(wallets, (client) => wallets.write(ledger, credit(`${client}`, 1n), 100)),
  },
])("of $of: all four come together once others were seen", async ({ sizesIn }) => {
  const newLedger = async () => ({
    ledgerId: await books.createLedger(),
    organizationId: books.organizationId,
    functionalCurrency: "USD",
  });
  // The connections are open by then.
  await sizesIn(await newLedger());
  expect(await sizesIn(await newLedger())).toEqual(inTurns(writesOfEach));
  const shared = await newLedger();
  await books.pool.transaction(async (other) => {
    await lockLedgerStateShared(other, shared.ledgerId);
    const sizes = await sizesIn(shared);
    expect(sizes.slice(-8)).toEqual(new Array<number>(8).fill(clientCount));
  });
});
