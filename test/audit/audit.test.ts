// Audits of whole books: sound ones are found sound, and what moves beside the journal is found.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CloseRecord } from "../../src/core/close.ts";
import { holds } from "../../src/core/period.ts";
import type { Timestamp } from "../../src/core/time.ts";
import type { AuditReport } from "../../src/audit/audit-log.ts";
import { auditLedgers } from "../../src/audit/audit.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { openEngine, neverPosting, type TestEngine } from "../support/engine.ts";
import { entriesPath, entry, postEntry } from "../support/entries.ts";
import { readRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";
import { tamper } from "../support/tampering.ts";
import { accepted, move, newKey, resolve } from "../support/wallets.ts";

const service = serveBooks(neverPosting);
let engine: TestEngine;
let pool: Pool;
/** What `makeBooks` makes. Whoever changes something in it puts it back. */
let ledgerId: string;

beforeAll(async () => {
  engine = openEngine(service.books.databaseUrl);
  pool = new Pool({
    databaseUrl: service.books.databaseUrl,
    connectionsMax: 2,
    answerTimeoutMs: 60_000,
  });
  ledgerId = await makeBooks();
});

afterAll(async () => {
  await engine.end();
  await pool.end();
});

async function audit(ledgerId: string | null): Promise<AuditReport> {
  const report = await pool.twoOfOneSnapshot((reads, beside) =>
    auditLedgers(reads, ledgerId, undefined, beside),
  );
  if (report === null) throw new Error("the ledger is there");
  return report;
}

const failing = ({ checks }: AuditReport) => checks.filter(({ ok }) => !ok).map(({ name }) => name);

/** A ledger with a posted and a pending wallet batch, a hold, a reversal and two closes. */
async function makeBooks(): Promise<string> {
  const ledgerId = await service.books.createLedger();
  const post = (transactionDate: string, amount: number) =>
    postEntry(service, entry(amount, { transactionDate }), ledgerId);
  await post("2026-01-03T00:00:00Z", 10);
  const { journalId } = await post("2026-02-03T00:00:00Z", 20);
  await service.post(`${entriesPath(ledgerId)}/${journalId}/reversal`);
  const [first, second] = [newKey(service, ledgerId), newKey(service, ledgerId)];
  accepted(await move(service, first, "credit", 500));
  accepted(await move(service, second, "credit", 70));
  accepted(await move(service, first, "debit", 30));
  const { holdId } = accepted(await move(service, first, "reserve", 40));
  await engine.post(ledgerId);
  accepted(await resolve(service, first, holdId ?? "", "commit", { amount: "15" }));
  accepted(await move(service, first, "reserve", 8));
  accepted(await move(service, first, "debit", 5));
  await engine.close(ledgerId, "2026-01");
  await engine.close(ledgerId, "2026-02");
  accepted(await move(service, second, "credit", 9));
  return ledgerId;
}

describe("an audit", () => {
  test("finds nothing in sound books, and has looked at all of them", async () => {
    const report = await audit(ledgerId);
    expect(report.checks.flatMap(({ findings }) => findings)).toEqual([]);
    expect(report).toMatchObject({ ok: true, notes: [] });
    const checked = Object.fromEntries(report.checks.map((check) => [check.name, check.checked]));
    expect(checked).toMatchObject({
      ledgers: 1,
      sequences: 5,
      leaves: 5,
      reversals: 1,
      "close-chain": 2,
      "close-roots": 2,
      wallets: 2,
      "wallet-postings": 2,
      reconciliation: 1,
    });
    expect((await audit(null)).ok).toBe(true);
    expect(await pool.snapshot((reads) => auditLedgers(reads, crypto.randomUUID()))).toBeNull();
  });

  test("notes an opening that has moved since a close, and is no failure", async () => {
    const ledgerId = await service.books.createLedger();
    const february = entry(20, { transactionDate: "2026-02-03T00:00:00Z" });
    await postEntry(service, february, ledgerId);
    await engine.close(ledgerId, "2026-02");
    const january = entry(7, { transactionDate: "2026-01-03T00:00:00Z" });
    await postEntry(service, january, ledgerId);
    const { ok, notes } = await audit(ledgerId);
    expect(ok).toBe(true);
    expect(notes.map(({ what }) => what).sort()).toEqual([
      "1 entry dated before the period came after the close",
      "the opening has moved by -7 since the close",
      "the opening has moved by 7 since the close",
    ]);
  });

  test("recomputes closes that nest, overlap and came out of order, each from its own entries", async () => {
    const ledgerId = await service.books.createLedger();
    const posted: { sequence: number; transactionDate: string }[] = [];
    const post = async (transactionDate: string) => {
      await postEntry(service, entry(posted.length + 1, { transactionDate }), ledgerId);
      posted.push({ sequence: posted.length + 1, transactionDate });
    };
    const closes: CloseRecord[] = [];
    const close = async (...asked: [string, object?]) => {
      closes.push(await engine.close(ledgerId, ...asked));
    };
    for (let month = 1; month <= 12; month += 1) {
      await post(`2025-${String(month).padStart(2, "0")}-15T00:00:00.000Z`);
    }
    await close("2025-06");
    await post("2025-03-01T00:00:00.000Z");
    await close("2025-Q2");
    await close("2025-05-31");
    await post("2025-01-31T00:00:00.000Z");
    await close("late spring", {
      startsAt: "2025-05-15T00:00:00.000Z",
      endsAt: "2025-07-15T00:00:00.001Z",
    });
    await close("2025-H1");
    await post("2025-07-20T00:00:00.000Z");
    await close("2025-08");
    await close("2025");
    await post("2026-01-01T00:00:00.000Z");
    await close("2027");
    await post("2026-05-01T00:00:00.000Z");
    const report = await audit(ledgerId);
    expect(failing(report)).toEqual([]);
    const expected = closes.flatMap(({ number, startsAt, lastSequence }) => {
      const late = posted.filter(
        ({ sequence, transactionDate }) =>
          sequence > lastSequence && startsAt !== null && transactionDate < startsAt,
      );
      return late.length === 0 ? [] : [[number, late.length]];
    });
    const noted = report.notes.flatMap(({ where, what }) => {
      const count = /^(\d+) entr(?:y|ies) dated before the period/.exec(what)?.[1];
      return count === undefined ? [] : [[Number(/^close (\d+)/.exec(where)?.[1]), Number(count)]];
    });
    expect(noted).toEqual(expected);
    expect(expected.length).toBeGreaterThan(1);
    for (const { sequence, transactionDate } of posted) {
      const undo = await tamper(
        service.books,
        `UPDATE journal_lines SET description = 'x' WHERE ledger_id = '${ledgerId}' AND sequence = ${sequence}`,
      );
      const { checks } = await audit(ledgerId);
      await undo();
      const found = checks.find(({ name }) => name === "close-roots")?.findings ?? [];
      expect(found.map(({ where }) => Number(/^close (\d+)/.exec(where)?.[1]))).toEqual(
        closes
          .filter(
            (each) => sequence <= each.lastSequence && holds(each, transactionDate as Timestamp),
          )
          .map(({ number }) => number),
      );
    }
  });

  test("notes entries of clients on a wallets account, and reconciles without them", async () => {
    const ledgerId = await makeBooks();
    const lines = [
      { glAccountCode: "wallets:USD", functionalAmount: "-3" },
      { glAccountCode: "1000", functionalAmount: "3" },
    ];
    await postEntry(service, { lines }, ledgerId);
    const { ok, notes } = await audit(ledgerId);
    expect(ok).toBe(true);
    expect(notes).toEqual([
      {
        ledgerId,
        where: 'account "wallets:USD"',
        what: "has 1 entry that is no posting of wallets, -3 in all",
      },
    ]);
  });

  test.each([
    [
      "an amount on both sides of it",
      "UPDATE journal_lines SET functional_amount = 2 * functional_amount WHERE $reversal",
      / and is not its negation: line 0 differs$/,
    ],
    [
      "a rate of it",
      "UPDATE journal_lines SET spot_rate = 3 WHERE $reversal AND line_number = 1",
      / and is not its negation: line 1 differs$/,
    ],
    [
      "a line of what it reverses",
      "DELETE FROM journal_lines WHERE sequence = 2 AND line_number = 1 AND $own",
      / and is not its negation: line 1 differs$/,
    ],
    [
      "what the original says it is reversed by",
      `UPDATE journal_reversals SET reversal_journal_id = (
         SELECT journal_id FROM journal_entries WHERE sequence = 1 AND $own) WHERE $own`,
      /is said to be reversed by .*, which reverses nothing|, which is not marked with it$/,
    ],
    [
      "what it says that it reverses",
      `UPDATE journal_entries SET reverses_journal_id = (
         SELECT journal_id FROM journal_entries WHERE sequence = 1 AND $own) WHERE $reversal`,
      /is said to be reversed by .*, which reverses |, which is not marked with it$|negation: line 0/,
    ],
  ])("finds a reversal with another: %s", async (_name, statement, what) => {
    const own = `ledger_id = '${ledgerId}'`;
    const undo = await tamper(
      service.books,
      statement.replaceAll("$reversal", `sequence = 3 AND ${own}`).replaceAll("$own", own),
    );
    const { checks } = await audit(ledgerId);
    await undo();
    const { findings = [] } = checks.find(({ name }) => name === "reversals") ?? {};
    expect(findings).not.toEqual([]);
    for (const finding of findings) expect(finding.what).toMatch(what);
  });

  test("reads entries and lines that fill several pages, each with its own", async () => {
    const ledgerId = await service.books.createLedger();
    const lines = entry(1).lines.flatMap((line) => Array.from({ length: 350 }, () => line));
    for (let sequence = 1; sequence <= 7; sequence += 1) {
      await postEntry(service, { lines }, ledgerId);
    }
    for (let sequence = 8; sequence < 1_008; sequence += 100) {
      const posts = Array.from({ length: 100 }, () => postEntry(service, entry(1), ledgerId));
      await Promise.all(posts);
    }
    const report = await audit(ledgerId);
    expect(report.checks.flatMap(({ findings }) => findings)).toEqual([]);
    expect(report.checks.find(({ name }) => name === "leaves")?.checked).toBe(1_007);
    // A page ends in the lines of the fifth entry, another with the thousandth entry.
    const own = `ledger_id = '${ledgerId}'`;
    const undo = await tamper(
      service.books,
      `DELETE FROM journal_lines WHERE ${own} AND sequence = 5 AND line_number = 200`,
      `UPDATE journal_lines SET description = 'x' WHERE ${own} AND sequence IN (1000, 1001, 1007)`,
    );
    const { checks } = await audit(ledgerId);
    await undo();
    const { findings = [] } = checks.find(({ name }) => name === "leaves") ?? {};
    const found = findings.map(({ where }) => /sequence (\d+)/.exec(where)?.[1]);
    expect(found).toEqual(["5", "1000", "1001", "1007"]);
  });

  test("tells 20 findings of a check, and counts all", async () => {
    const ledgerId = await service.books.createLedger();
    for (let index = 0; index < 25; index += 1) await postEntry(service, entry(1), ledgerId);
    const undo = await tamper(
      service.books,
      `UPDATE journal_entries SET description = 'x' WHERE ledger_id = '${ledgerId}'`,
    );
    const { checks } = await audit(ledgerId);
    await undo();
    const leaves = checks.find(({ name }) => name === "leaves");
    expect(leaves).toMatchObject({ ok: false, findingCount: 25 });
    expect(leaves?.findings).toHaveLength(20);
  });
});

describe("an audit of wallets", () => {
  const own = "ledger_id = $1";
  const posted = `${own} AND journal_id IS NOT NULL AND side = 'debit'`;
  test.each([
    [
      "a balance",
      `UPDATE wallets SET balance = balance + 1 WHERE ${own}`,
      ["wallets", "reconciliation"],
    ],
    ["what is held", `UPDATE wallets SET held = held + 1 WHERE ${own}`, ["wallets"]],
    ["the last seq", `UPDATE wallets SET last_seq = last_seq + 1 WHERE ${own}`, ["wallets"]],
    [
      "a wallet's absence",
      `DELETE FROM wallets WHERE ${own}`,
      ["wallets", "wallet-batches", "reconciliation"],
    ],
    [
      "a write's amount",
      `UPDATE wallet_writes SET amount = amount + 1 WHERE ${own} AND seq = 1`,
      ["wallets", "wallet-logs", "wallet-batches"],
    ],
    [
      "a write's balance",
      `UPDATE wallet_writes SET balance = balance + 1 WHERE ${own} AND seq = 1`,
      ["wallets", "wallet-logs"],
    ],
    [
      "a write's absence",
      `DELETE FROM wallet_writes WHERE ${own} AND seq = 1`,
      ["wallets", "wallet-logs", "wallet-batches"],
    ],
    [
      "the last write's absence",
      `DELETE FROM wallet_writes WHERE ${own} AND seq = 6`,
      ["wallets", "wallet-logs", "wallet-batches"],
    ],
    [
      "a reservation's absence",
      `DELETE FROM wallet_writes WHERE ${own} AND type = 'reserve'`,
      ["wallets", "wallet-logs"],
    ],
    ["a hold's absence", `DELETE FROM wallet_holds WHERE ${own}`, ["wallets"]],
    ["a hold's state", `UPDATE wallet_holds SET status = 'released' WHERE ${own}`, ["wallets"]],
    [
      "a span of a batch",
      `UPDATE wallet_batches SET last_seqs[1] = last_seqs[1] + 1 WHERE ${own}`,
      ["wallet-batches"],
    ],
    [
      "a write's batch",
      `UPDATE wallet_writes SET batch_id = gen_random_uuid() WHERE ${own} AND seq = 1`,
      ["wallet-logs", "wallet-batches"],
    ],
    [
      "a batch's amount",
      `UPDATE wallet_batches SET amount = amount + 1 WHERE ${posted}`,
      ["wallet-batches", "wallet-postings"],
    ],
    [
      "a batch's spans",
      `UPDATE wallet_batches SET last_seqs = first_seqs || 9 WHERE ${own}`,
      ["wallet-batches"],
    ],
    [
      "a batch's absence",
      `DELETE FROM wallet_batches WHERE ${posted}`,
      ["wallet-logs", "wallet-batches", "wallet-postings"],
    ],
    [
      "a pending batch's absence",
      `DELETE FROM wallet_batches WHERE ${own} AND journal_id IS NULL`,
      ["wallet-logs", "wallet-batches", "reconciliation"],
    ],
    [
      "a mark",
      `UPDATE wallet_batches SET journal_id = gen_random_uuid() WHERE ${posted}`,
      ["wallet-postings"],
    ],
    [
      "a mark's absence",
      `UPDATE wallet_batches SET journal_id = NULL WHERE ${posted}`,
      ["wallet-postings", "reconciliation"],
    ],
    [
      "a posting's absence",
      `DELETE FROM wallet_postings WHERE ${own}`,
      ["wallet-postings", "reconciliation"],
    ],
    [
      "a total",
      `UPDATE wallet_posting_totals SET functional_amount = functional_amount + 1 WHERE ${own}`,
      ["wallet-postings"],
    ],
    [
      "an active hold of a wallet that is not there",
      `INSERT INTO wallet_holds SELECT ledger_id, gen_random_uuid(), gen_random_uuid(), 1, NULL, 'active'
         FROM ledgers WHERE ${own}`,
      ["wallets"],
    ],
    [
      "a log without a wallet that begins with seq 2",
      `INSERT INTO wallet_writes (ledger_id, wallet_id, seq, type, amount, balance, held, at)
       SELECT ledger_id, gen_random_uuid(), 2, 'expire', 1, 0, 0, now() FROM ledgers WHERE ${own}`,
      ["wallets"],
    ],
    [
      "a balance of nothing of an account that is not there",
      `INSERT INTO account_balances SELECT ledger_id, 'none', '', 0, 0 FROM ledgers WHERE ${own}`,
      ["balances"],
    ],
    [
      "a rate",
      `UPDATE asset_rules SET rate = 2 WHERE ${own}`,
      ["administration", "wallet-postings"],
    ],
  ])("finds %s", async (_name, statement, names) => {
    const undo = await tamper(service.books, statement.replace("$1", `'${ledgerId}'`));
    const report = await audit(ledgerId);
    await undo();
    expect(report.ok).toBe(false);
    expect(failing(report)).toEqual(names);
    for (const { findings, findingCount } of report.checks) {
      expect(findingCount).toBeGreaterThanOrEqual(findings.length);
    }
  });
});

test("an audit finds that two wallets have changed owners", async () => {
  const rename = (from: string, to: string) =>
    `UPDATE wallets SET caller_key = '${to}' WHERE caller_key = '${from}' AND ledger_id = '${ledgerId}'`;
  const owners = await readRows(
    service,
    "SELECT caller_key AS key FROM wallets WHERE ledger_id = $1",
    [ledgerId],
  );
  const [first = "", second = ""] = owners.map(({ key }) => String(key));
  const undo = await tamper(
    service.books,
    rename(first, "between"),
    rename(second, first),
    rename("between", second),
  );
  const report = await audit(ledgerId);
  await undo();
  expect(failing(report)).toEqual(["wallet-logs"]);
  expect(report.checks.find(({ name }) => name === "wallet-logs")?.findingCount).toBe(2);
});

test("an audit finds nothing in books where all that was changed is put back", async () => {
  expect((await audit(null)).checks.flatMap(({ findings }) => findings)).toEqual([]);
});

describe("a row that can't be read", () => {
  test.each([
    "UPDATE journal_entries SET persisted_at = 'infinity' WHERE sequence = 1",
    "UPDATE journal_entries SET transaction_date = '-infinity' WHERE sequence = 2",
    "UPDATE journal_lines SET transaction_amount = 'NaN' WHERE sequence = 1 AND line_number = 1",
    "UPDATE wallets SET balance = 'NaN' WHERE balance > 0",
    "UPDATE wallet_writes SET at = 'infinity' WHERE seq = 1",
    "UPDATE period_closes SET closed_at = '-infinity' WHERE number = 1",
  ])("ends the audit of all ledgers, with that of its ledger: %s", async (statement) => {
    const putBack = await tamper(service.books, `${statement} AND ledger_id = '${ledgerId}'`);
    await expect(audit(null)).rejects.toThrow(`a row of ledger ${ledgerId} can't be read: `);
    await putBack();
    expect((await audit(null)).ok).toBe(true);
  });
});
