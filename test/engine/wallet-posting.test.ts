// Posting: what wallets accepted becomes entries of the ledger, gross, per asset, exact. The oracle of the
// amounts is the log of the wallets.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Poster } from "../../src/engine/posting.ts";
import type { Transaction } from "../../src/store/database/pipeline.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { leafOf, type LeafDocument } from "../support/canonical-oracle.ts";
import { openEngine, neverPosting, type TestEngine } from "../support/engine.ts";
import { listEntries, problem, readBalance, type ReadEntry } from "../support/entries.ts";
import { readRows } from "../support/rows.ts";
import {
  createBooks,
  serveBooks,
  startService,
  type TestBooks,
  type TestService,
} from "../support/service.ts";
import { accepted, hold, move, newKey, readWalletLog, resolve } from "../support/wallets.ts";
import { until } from "../support/until.ts";

const service = serveBooks(neverPosting);
let engine: TestEngine;

beforeAll(() => {
  engine = openEngine(service.books.databaseUrl);
});

afterAll(() => engine.end());

interface PostedLine {
  readonly glAccountCode: string;
  readonly functionalAmount: string;
  readonly transactionAmount: string;
}

/** The lines of an entry, each as code, transaction and functional amount. */
function linesOf(entry: ReadEntry | undefined): string[] {
  return (entry?.lines ?? []).map((each) => {
    const line = each as unknown as PostedLine;
    return `${line.glAccountCode} ${line.transactionAmount} ${line.functionalAmount}`;
  });
}

describe("a posting", () => {
  test("is one entry, gross: credits and debits apart, commits among the debits", async () => {
    const ledgerId = await service.books.createLedger();
    const [a, b] = [newKey(service, ledgerId), newKey(service, ledgerId)];
    accepted(await move(service, a, "credit", 100));
    accepted(await move(service, b, "credit", 11));
    accepted(await move(service, a, "debit", 30));
    const committed = await hold(service, a, 20);
    accepted(await resolve(service, a, committed, "commit", { amount: "15" }));
    accepted(await resolve(service, a, await hold(service, a, 5), "release"));
    await hold(service, b, 5);
    await engine.post(ledgerId);
    const { entries, total } = await listEntries(service, "", ledgerId);
    expect(total).toBe(1);
    expect(linesOf(entries[0])).toEqual([
      "wallets-clearing:USD 111 111",
      "wallets:USD -111 -111",
      "wallets:USD 45 45",
      "wallets-clearing:USD -45 -45",
    ]);
    const log = [...(await readWalletLog(service, a)), ...(await readWalletLog(service, b))];
    const moving = log.filter(({ type }) => ["credit", "debit", "commit"].includes(type));
    const times = moving.map(({ at }) => at).sort();
    expect(entries[0]).toMatchObject({
      sequence: 1,
      externalId: null,
      originSystem: "ledgerctl",
      originAccount: null,
      eventType: "WALLET_BATCH",
      entryType: "STANDARD",
      postingStatus: "POSTED",
      reversesJournalId: null,
      transactionDate: times.at(-1),
      metadata: { acceptedFrom: times[0], acceptedTo: times.at(-1), writes: 4, wallets: 2 },
    });
    expect(Object.keys(entries[0]?.metadata ?? {})).toHaveLength(4);
    for (const { type, journalId } of log) {
      const moves = ["credit", "debit", "commit"].includes(type);
      expect(journalId).toBe(moves ? entries[0]?.journalId : null);
    }
  });

  test("leaves what is accepted meanwhile for the next interval", async () => {
    const ledgerId = await service.books.createLedger();
    const key = newKey(service, ledgerId);
    accepted(await move(service, key, "credit", 1));
    let left = 3;
    class BusyConnections extends Pool {
      /** While the poster works, the wallet is written. */
      override async withTransaction<T>(work: (transaction: Transaction) => Promise<T>) {
        const result = await super.withTransaction(work);
        if (left > 0) accepted(await move(service, key, "credit", 1));
        left -= 1;
        return result;
      }
    }
    const connections = new BusyConnections({
      databaseUrl: service.books.databaseUrl,
      connectionsMax: 1,
      lockTimeoutMs: 10_000,
      answerTimeoutMs: 20_000,
    });
    const onFailure = () => undefined;
    await new Poster(connections, { intervalMs: 1, onFailure }).postLedger(ledgerId);
    await connections.end();
    expect((await listEntries(service, "", ledgerId)).total).toBe(1);
    await engine.post(ledgerId);
    const { entries } = await listEntries(service, "", ledgerId);
    expect(entries.map(({ metadata }) => metadata["writes"])).toEqual([1, 1]);
  });

  test("names line by line which currencies and at which rate", async () => {
    const ledgerId = await service.books.createLedger();
    accepted(await move(service, newKey(service, ledgerId), "credit", 7));
    await engine.post(ledgerId);
    const { entries } = await listEntries(service, "", ledgerId);
    for (const line of entries[0]?.lines ?? []) {
      expect(line).toMatchObject({
        transactionCurrency: "USD",
        functionalCurrency: "USD",
        spotRate: null,
        description: null,
      });
    }
  });

  test("has the leaf that the contract says, and is known by its own table", async () => {
    const ledgerId = await service.books.createLedger();
    accepted(await move(service, newKey(service, ledgerId), "credit", 7));
    accepted(await move(service, newKey(service, ledgerId), "credit", 3, { assetCode: "calls" }));
    await engine.post(ledgerId);
    const { entries, total } = await listEntries(service, "", ledgerId);
    expect(total).toBe(2);
    for (const entry of entries) {
      const query = "SELECT encode(leaf, 'hex') AS leaf FROM journal_entries WHERE journal_id = $1";
      const [row] = await readRows(service, query, [entry.journalId]);
      expect(row?.["leaf"]).toBe(leafOf(entry as unknown as LeafDocument));
    }
    const postings = await readRows(
      service,
      "SELECT journal_id::text, asset_code FROM wallet_postings WHERE ledger_id = $1",
      [ledgerId],
    );
    expect(new Set(postings.map((row) => row["journal_id"]))).toEqual(
      new Set(entries.map(({ journalId }) => journalId)),
    );
  });

  test("can't be reversed", async () => {
    const ledgerId = await service.books.createLedger();
    accepted(await move(service, newKey(service, ledgerId), "credit", 7));
    await engine.post(ledgerId);
    const { entries } = await listEntries(service, "", ledgerId);
    const path = `/v1/ledgers/${ledgerId}/journal-entries/${entries[0]?.journalId ?? ""}/reversal`;
    const reply = await service.post(path);
    expect(problem(reply)).toMatchObject({ status: 409, code: "WALLET_BATCH_NOT_REVERSIBLE" });
    expect((await listEntries(service, "", ledgerId)).total).toBe(1);
  });

  test("is one an asset; a code that is no currency has a pair of its own, one to one", async () => {
    const ledgerId = await service.books.createLedger();
    const assets = ["calls", "Tokens/a", "USD"];
    for (const assetCode of assets) {
      const key = newKey(service, ledgerId);
      accepted(await move(service, key, "credit", 9, { assetCode }));
      accepted(await move(service, key, "debit", 2, { assetCode }));
    }
    await engine.post(ledgerId);
    const { entries, total } = await listEntries(service, "", ledgerId);
    expect(total).toBe(3);
    expect(new Set(entries.flatMap(linesOf))).toEqual(
      new Set(
        assets.flatMap((asset) => [
          `wallets-clearing:${asset} 9 9`,
          `wallets:${asset} -9 -9`,
          `wallets:${asset} 2 2`,
          `wallets-clearing:${asset} -2 -2`,
        ]),
      ),
    );
    const { body } = await service.get(`/v1/ledgers/${ledgerId}/accounts`);
    const codes = (body as { accounts: { glAccountCode: string }[] }).accounts;
    for (const asset of assets) {
      for (const prefix of ["wallets", "wallets-clearing"]) {
        expect(codes).toContainEqual(
          expect.objectContaining({ glAccountCode: `${prefix}:${asset}` }),
        );
      }
    }
  });

  test("gathers many batches, and says of each write which entry holds it", async () => {
    const ledgerId = await service.books.createLedger();
    const keys = Array.from({ length: 5 }, () => newKey(service, ledgerId));
    for (let round = 0; round < 8; round += 1) {
      await Promise.all(keys.map((key) => move(service, key, "credit", 10 + round)));
    }
    await engine.post(ledgerId);
    await engine.post(ledgerId);
    const { entries, total } = await listEntries(service, "", ledgerId);
    const sum = 5 * (8 * 10 + 28);
    expect(total).toBe(1);
    expect(linesOf(entries[0])[0]).toBe(`wallets-clearing:USD ${sum} ${sum}`);
    expect(entries[0]?.metadata).toMatchObject({ writes: 40, wallets: 5 });
    const spans = await readRows(
      service,
      `SELECT span.wallet_id, writes.seq, writes.amount::text
         FROM wallet_batches AS batches
         CROSS JOIN LATERAL unnest(wallet_ids, first_seqs, last_seqs)
           AS span (wallet_id, first_seq, last_seq)
         JOIN wallet_writes AS writes
           ON writes.ledger_id = batches.ledger_id AND writes.wallet_id = span.wallet_id
          AND writes.seq BETWEEN span.first_seq AND span.last_seq
          AND writes.batch_id = batches.batch_id
        WHERE batches.ledger_id = $1 AND batches.journal_id = $2`,
      [ledgerId, entries[0]?.journalId],
    );
    expect(spans).toHaveLength(40);
    expect(spans.reduce((all, row) => all + Number(row["amount"]), 0)).toBe(sum);
  });

  test("of more than 38 digits is exact", async () => {
    const ledgerId = await service.books.createLedger();
    const key = newKey(service, ledgerId);
    const most = 10n ** 38n - 1n;
    for (let times = 0; times < 3; times += 1) accepted(await move(service, key, "credit", most));
    await engine.post(ledgerId);
    const { balance } = await readBalance(service, "wallets:USD", undefined, ledgerId);
    expect(balance).toBe(-3n * most);
  });

  test("uses an account that the chart has already, also an inactive one", async () => {
    const ledgerId = await service.books.createLedger();
    await engine.setRule(ledgerId, "USD", { walletsAccount: "2000", clearingAccount: "9000" });
    accepted(await move(service, newKey(service, ledgerId), "credit", 7));
    await engine.post(ledgerId);
    const { entries } = await listEntries(service, "", ledgerId);
    expect(linesOf(entries[0])).toEqual(["9000 7 7", "2000 -7 -7"]);
  });
});

describe("a poster of the service", () => {
  let books: TestBooks;
  let running: TestService;

  beforeAll(async () => {
    books = await createBooks();
    running = await startService(books, { variables: { LEDGERCTL_POST_INTERVAL_MS: "50" } });
  });
  afterAll(async () => {
    await running.stop();
    await books.drop();
  });

  test("posts by itself a short while after acceptance, ledger by ledger", async () => {
    const ledgers = [books.ledgerId, await books.createLedger(), await books.createLedger()];
    for (const ledgerId of ledgers) {
      accepted(await move(running, newKey(running, ledgerId), "credit", 5));
    }
    for (const ledgerId of ledgers) {
      await until("a posting", async () => (await listEntries(running, "", ledgerId)).total > 0);
      expect((await listEntries(running, "", ledgerId)).total).toBe(1);
    }
  });

  test("posts what waits one last time when the service stops", async () => {
    const patient = await startService(books, neverPosting);
    const ledgerId = await books.createLedger();
    // The other service may come first: either way it is posted once.
    accepted(await move(patient, newKey(patient, ledgerId), "credit", 5));
    await patient.stop();
    const { entries, total } = await listEntries(running, "", ledgerId);
    expect(total).toBe(1);
    expect(linesOf(entries[0])).toEqual(["wallets-clearing:USD 5 5", "wallets:USD -5 -5"]);
  });
});
