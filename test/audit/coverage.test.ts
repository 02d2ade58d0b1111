// No byte outside the audit: whatever somebody changes in the database, in any column of any table, is found, or is
// in the list of what is free in docs/operations.md.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { auditLedgers } from "../../src/audit/audit.ts";
import { cosign, formatCheckpoint } from "../../src/core/checkpoint.ts";
import { formatVerifierKey, NoteSigner, signatureTypes } from "../../src/core/note.ts";
import { CheckpointMaker } from "../../src/engine/logs/checkpoint-maker.ts";
import { findNewestCheckpoint, insertCosignature } from "../../src/store/log-checkpoints.ts";
import { chainEntry, chainStart } from "../../src/core/wallet-chain.ts";
import { DaySums } from "../../src/engine/day-sums.ts";
import {
  insertDelivery,
  insertDeliveryProgress,
  updateDeliveryPause,
} from "../../src/store/deliveries.ts";
import * as walletOrder from "../../src/store/ordered-wallet-writes.ts";
import { insertBackup } from "../../src/store/backups.ts";
import { revokeApiKey } from "../../src/store/api-keys.ts";
import { Pool } from "../../src/store/database/pool.ts";
import type { Connection } from "../../src/store/database/connection.ts";
import {
  insertDigestCompletion,
  insertDigests,
  listOlderRows,
} from "../../src/store/wallet-log-digests.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { readTable } from "../docs/markdown-table.ts";
import { neverPosting, openEngine, type TestEngine } from "../support/engine.ts";
import { entriesPath, entry, postEntry } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import {
  listTableChanges,
  passTriggers,
  whileChanged,
  type TableChange,
} from "../support/table-changes.ts";
import { forge } from "../support/tampering.ts";
import { transferOne } from "../support/transfers.ts";
import { accepted, move, resolve } from "../support/wallets.ts";

const service = serveBooks(neverPosting);
const logSettings = { logName: "ledger.example.com", logKeys: [randomBytes(32)] } as const;
let engine: TestEngine;
let pool: Pool;

beforeAll(async () => {
  const { databaseUrl } = service.books;
  engine = openEngine(databaseUrl);
  pool = new Pool({ databaseUrl, connectionsMax: 2, answerTimeoutMs: 60_000, keepsPlans: true });
  await makeBooks();
});

afterAll(async () => {
  await engine.end();
  await pool.end();
});

/** Books with rows in every table, and of every kind. */
async function makeBooks(): Promise<void> {
  const { ledgerId, databaseUrl } = service.books;
  const key = (name: string) => `${ledgerId}:${name}`;
  const dated = (transactionDate: string) =>
    entry(10, { transactionDate, externalId: transactionDate, metadata: { a: 1 } });
  await postEntry(service, dated("2026-01-03T00:00:00Z"), ledgerId);
  const { journalId } = await postEntry(service, dated("2026-02-03T00:00:00Z"), ledgerId);
  await service.post(`${entriesPath(ledgerId)}/${journalId}/reversal`);
  await walletOrder.insertWalletOrderHead(pool, ledgerId);
  await walletOrder.updateWalletOrder(pool, ledgerId, 0);
  for (const name of ["older", "oldest"]) {
    accepted(await move(service, key(name), "credit", 90, { externalId: "e", metadata: "m" }));
    await makeOlder(name);
  }
  await engine.setRule(ledgerId, "USD", { maxBalance: 1_000n, dailyDebitMax: 1_000n });
  await transferOne(service, "older", "oldest", 5, { externalId: "t", metadata: "m" });
  accepted(await move(service, key("older"), "debit", 10));
  const labels = { externalId: "first", metadata: "{}" };
  accepted(await move(service, key("a"), "credit", 500, labels));
  accepted(await move(service, key("b"), "credit", 70));
  for (const verb of ["commit", "release"] as const) {
    const { holdId } = accepted(
      await move(service, key("a"), "reserve", 40, { expiresInSeconds: 900 }),
    );
    accepted(await resolve(service, key("a"), holdId ?? "", verb));
  }
  await engine.post(ledgerId);
  await engine.setRule(ledgerId, "USD", { overdraftLimit: 5n });
  accepted(await move(service, key("a"), "debit", 7));
  accepted(await move(service, key("a"), "reserve", 3));
  accepted(await move(service, key("c"), "credit", 4, { assetCode: "EUR" }));
  await engine.close(ledgerId, "2026-01");
  await engine.close(ledgerId, "2026-02", { reason: "month end" });
  await fillLogs(ledgerId);
  await new DaySums(pool, { intervalMs: 1, spanEntries: 2, onFailure: fail }).sumAll();
  const { apiKey } = await service.books.createKey({ expiresAt: "2030-01-01T00:00:00.000Z" });
  await revokeApiKey(pool, apiKey, "2026-03-01T00:00:00.000Z" as Timestamp);
  await insertDigestCompletion(pool);
  const deliveryId = "01a20ddf-3221-70f9-8b12-2822d5f4abc7";
  await insertDelivery(pool, ledgerId, {
    ...{ deliveryId, url: "https://example.com/", events: ["entry", "wallet"] },
    ...{ masterKeyFingerprint: "00", createdAt: "2026-03-01T00:00:00.000Z" as Timestamp },
  });
  await insertDeliveryProgress(pool, ledgerId, deliveryId, {
    ...{ sequence: 1, closeNumber: 0, walletNumber: 0 },
  });
  await updateDeliveryPause(pool, ledgerId, deliveryId, "asked");
  await insertBackup(pool, { takenAt: "2026-03-31T02:00:00.000Z" as Timestamp, bytes: 1 });
  await forge(
    { databaseUrl },
    `INSERT INTO ledger_state_requests VALUES ('${ledgerId}', now() - interval '1 day')`,
    // The server itself changes rows of this table all the time, but none of these.
    `INSERT INTO commit_probes SELECT slot, now() FROM generate_series(100, 130, 10) AS slot`,
  );
}

function fail(error: unknown): never {
  throw error;
}

/** As a wallet of an older version is after an upgrade: a log without a chain, but with a digest. */
async function makeOlder(callerKey: string): Promise<void> {
  const { ledgerId, databaseUrl } = service.books;
  await forge(
    { databaseUrl },
    `UPDATE wallets SET log_hash = NULL, chained_after = NULL WHERE caller_key = '${callerKey}'`,
  );
  const after = { walletId: "00000000-0000-0000-0000-000000000000", seq: 0 };
  const rows = await listOlderRows(
    pool,
    ledgerId,
    after,
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    9,
  );
  const row = rows.at(-1);
  if (row === undefined) throw new Error("the wallet was just written");
  const { walletId } = row;
  const start = { ledgerId, walletId, callerKey, assetCode: "USD", chainedAfter: 0 };
  const digest = chainEntry(chainStart(start), row, row);
  await insertDigests(pool, ledgerId, [{ walletId, digest }]);
}

/** Logs with subtrees, with two checkpoints of the journal, and with the cosignature of a witness. */
async function fillLogs(ledgerId: string): Promise<void> {
  const maker = new CheckpointMaker(pool, {
    ...{ ...logSettings, intervalMs: 1, signedCheckpoints: null },
    ...{ onHalt: fail, onWrongSettings: fail, onFailure: fail },
  });
  // One that has no close, and so only one of the logs.
  const another = await service.books.createLedger();
  await postEntry(service, entry(1), another);
  await maker.signAll();
  const entries = Array.from({ length: 256 }, () => entry(1));
  await service.post(`${entriesPath(ledgerId)}/bulk`, { entries, atomic: true });
  await maker.signLog(ledgerId, "journal");
  const identity = { ledgerId, log: "journal", generation: 1 } as const;
  const checkpoint = await findNewestCheckpoint(pool, identity);
  if (checkpoint === null) throw new Error("it was just signed");
  const witness = new NoteSigner(
    "witness.example.com",
    randomBytes(32),
    signatureTypes.cosignature,
  );
  const { signature } = cosign(witness, formatCheckpoint(checkpoint), 1_767_225_600);
  await insertCosignature(pool, identity, {
    ...{ size: checkpoint.size, signature, cosignedAt: "2026-01-01T00:00:00.000Z" as Timestamp },
    verifierKey: formatVerifierKey(witness.verifierKey),
  });
}

/** What docs/operations.md lists as free: `table.column`, or a table. */
function readFree(): ReadonlySet<string> {
  const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
  return new Set(readTable(page, ["free", "why"]).map(([free = ""]) => free.replaceAll("`", "")));
}

async function countFindings(connection: Connection): Promise<number> {
  const report = await auditLedgers(connection, null);
  if (report === null) throw new Error("all ledgers are audited");
  return report.checks.reduce((sum, { findingCount }) => sum + findingCount, 0);
}

test("finds every change of every column, every row deleted and every row added", async () => {
  const { changes, emptyTables } = await listTableChanges(pool);
  const trials = new Map<string, number>();
  const [made, found] = [new Set<string>(), new Set<string>()];
  const missed: TableChange[] = [];
  // Plans are kept here: each of hundreds of audits has the same statements.
  const connection = await pool.borrow();
  const transaction = connection.begin();
  try {
    await passTriggers(transaction);
    expect(await countFindings(transaction)).toBe(0);
    for (const change of changes) {
      const { kind, max } = change.trials;
      const before = trials.get(kind) ?? 0;
      if (before === max) continue;
      const isMade = await whileChanged(transaction, change, async () => {
        if ((await countFindings(transaction)) === 0) missed.push(change);
        else found.add(change.place);
      });
      if (!isMade) continue;
      trials.set(kind, before + 1);
      made.add(change.place);
    }
    expect(await countFindings(transaction)).toBe(0);
  } finally {
    await transaction.rollBack();
    pool.giveBack(connection);
  }
  const free = readFree();
  const isFree = (place: string) => free.has(place) || free.has(place.replace(/\..*/, ""));
  const unfound = missed.filter(({ place }) => !isFree(place));
  expect(unfound.map(({ place, what }) => `${place} ${what}`)).toEqual([]);
  // Every column of every table was changed; nothing is listed that is not there, or that is found.
  expect(emptyTables).toEqual([]);
  expect(changes.map(({ place }) => place).filter((place) => !made.has(place))).toEqual([]);
  expect([...free].filter((place) => found.has(place) || !made.has(place))).toEqual([]);
  // It audits some hundred times.
}, 600_000);
