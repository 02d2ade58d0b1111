// A ledger to which others write: the batches of those who wait for their answers become one.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LedgerIdentity } from "../../src/core/ledger.ts";
import type { EntryDraft, Line } from "../../src/core/journal.ts";
import { Journal } from "../../src/engine/journal.ts";
import { Wallets } from "../../src/engine/wallets.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { lockLedgerStateShared } from "../../src/store/ledger-states.ts";
import { serveBooks } from "../support/service.ts";
import { credit, laneLimits } from "../support/wallet-batches.ts";

const service = serveBooks();
let pool: Pool;
let journal: Journal;
let wallets: Wallets;

beforeAll(() => {
  const { databaseUrl } = service.books;
  pool = new Pool({ databaseUrl, connectionsMax: 4, answerTimeoutMs: 20_000 });
  journal = new Journal(pool, laneLimits);
  wallets = new Wallets(pool, laneLimits, () => undefined);
});

afterAll(() => pool.end());

/** The sizes of the batches of four clients who write twenty times each, the first of them a little before the others. */
async function batchSizes(
  { counts }: Journal | Wallets,
  write: (client: number) => Promise<unknown>,
): Promise<number[]> {
  const sizes: number[] = [];
  counts.onBatch = (writes) => sizes.push(writes);
  const writeAll = async (client: number) => {
    for (let number = 0; number < 20; number += 1) await write(client);
  };
  const first = writeAll(0);
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([first, writeAll(1), writeAll(2), writeAll(3)]);
  return sizes;
}

function line(glAccountCode: string, amount: bigint): Line {
  return {
    glAccountCode,
    description: null,
    transactionAmount: amount,
    transactionCurrency: "USD",
    functionalAmount: amount,
    functionalCurrency: "USD",
    spotRate: null,
  };
}

const draft: EntryDraft = {
  entryType: "STANDARD",
  transactionDate: null,
  externalId: null,
  originSystem: null,
  originAccount: null,
  eventType: null,
  description: null,
  metadata: {},
  lines: [line("1000", 5n), line("4000", -5n)],
};

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
  const { books } = service;
  const newLedger = async () => ({
    ledgerId: await books.createLedger(),
    organizationId: books.organizationId,
    functionalCurrency: "USD",
  });
  // The connections are open by then.
  await sizesIn(await newLedger());
  expect(await sizesIn(await newLedger())).toHaveLength(40);
  const shared = await newLedger();
  await books.pool.transaction(async (other) => {
    await lockLedgerStateShared(other, shared.ledgerId);
    const sizes = await sizesIn(shared);
    expect(sizes.slice(-8)).toEqual(new Array<number>(8).fill(4));
  });
});
