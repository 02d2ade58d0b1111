// Sums by day and registers that are compared beside the entries: nothing in sound books has the database add them up
// again, and whatever is changed has.
import { afterAll, beforeAll, expect, test } from "vitest";
import { hashLeaf } from "../../src/core/merkle.ts";
import { auditLedgers } from "../../src/audit/audit.ts";
import { accountDayCheck, registerDayCheck } from "../../src/audit/sum-checks.ts";
import { readSumReach } from "../../src/store/audit/day-sums.ts";
import { readAuditedEntries } from "../../src/store/audit/journal.ts";
import type { Connection } from "../../src/store/database/connection.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { upsertMonths } from "../../src/store/month-sums.ts";
import { entriesPath } from "../support/entries.ts";
import { postAll, randomChart, sampleEntries, sumSpans } from "../support/random-books.ts";
import { serveBooks } from "../support/service.ts";
import { passTriggers, runText } from "../support/table-changes.ts";

const service = serveBooks();
let pool: Pool;
let ledgerId: string;

beforeAll(async () => {
  const { databaseUrl } = service.books;
  pool = new Pool({ databaseUrl, connectionsMax: 2, answerTimeoutMs: 60_000 });
  ledgerId = await service.books.createLedger({ chart: randomChart });
  await postAll(service, ledgerId, sampleEntries(200, 7));
  const { body } = await service.get(`${entriesPath(ledgerId)}?limit=100`);
  const { entries } = body as { entries: { journalId: string; entryType: string }[] };
  for (const entryType of ["STANDARD", "CLOSING"]) {
    const found = entries.find((each) => each.entryType === entryType);
    await service.post(`${entriesPath(ledgerId)}/${found?.journalId ?? ""}/reversal`);
  }
  await sumSpans(pool, 50);
});

afterAll(() => pool.end());

/** The tables that are not as the entries have them. */
async function listDifferent(connection: Connection): Promise<string[]> {
  const reach = await readSumReach(connection, ledgerId);
  const checks = {
    account_days: accountDayCheck(connection, ledgerId, reach),
    register_days: registerDayCheck(connection, ledgerId, reach),
  };
  for await (const page of readAuditedEntries(connection, ledgerId)) {
    for (const audited of page) {
      for (const check of Object.values(checks)) check.add(audited, hashLeaf(""));
    }
  }
  for (const check of Object.values(checks)) await check.finish?.();
  return Object.entries(checks).flatMap(([name, { isDifferent }]) => (isDifferent ? name : []));
}

/** The same after a change, which is undone. */
function listDifferentAfter(change: string): Promise<string[]> {
  return pool.withTransaction(async (transaction) => {
    await passTriggers(transaction);
    await runText(transaction, change);
    return listDifferent(transaction);
  });
}

test("are as the entries have them, up to where they are summed", async () => {
  expect((await readSumReach(pool, ledgerId)).registerEnds).toEqual([50, 100, 150, 200]);
  expect(await listDifferent(pool)).toEqual([]);
});

const day = "gl_account_code, day, currency";
/** A multiple of it is nothing to a sum of 256 bits. */
const wrap = 2n ** 256n;

test.each([
  `UPDATE account_days SET debits = debits + ${wrap}`,
  // Of half of it, a sum of 256 bits has something in every second case.
  `UPDATE account_days SET debits = debits + ${wrap / 2n} WHERE ctid = (SELECT min(ctid) FROM account_days)`,
  `UPDATE journal_lines SET functional_amount = functional_amount + ${wrap} WHERE functional_amount > 0`,
  "UPDATE account_days SET debits = debits + 1 WHERE entry_count > 1",
  "UPDATE account_days SET credits = credits + 0.5",
  "UPDATE account_days SET functional_debits = 'NaN'",
  "UPDATE account_days SET functional_credits = functional_credits - 1 WHERE is_closing",
  "UPDATE account_days SET entry_count = 9223372036854775807",
  "UPDATE account_days SET day = day - 1000000 WHERE day = '2026-01-01'",
  "DELETE FROM account_days WHERE is_closing",
  `INSERT INTO account_days SELECT ledger_id, '', day, currency, false, 0, 0, 0, 0, 0
     FROM account_days ORDER BY ${day} LIMIT 1`,
])("finds %s", async (change) => {
  expect(await listDifferentAfter(change)).toEqual(["account_days"]);
});

const array = (name: string) =>
  `UPDATE register_days SET ${name} = (
     SELECT array_agg(each ORDER BY place DESC) FROM unnest(${name}) WITH ORDINALITY AS all_of (each, place))
    WHERE line_count > 3`;

test.each([
  array("transaction_dates"),
  array("sequences"),
  array("line_numbers"),
  "UPDATE register_days SET transaction_dates[1] = transaction_dates[1] + interval '1 microsecond'",
  "UPDATE register_days SET line_count = line_count + 1",
  "UPDATE register_days SET entry_count = entry_count - 1",
  "UPDATE register_days SET ends_at_sequence = 149 WHERE ends_at_sequence = 150",
  "DELETE FROM register_days WHERE ends_at_sequence = 100",
])("finds %s", async (change) => {
  expect(await listDifferentAfter(change)).toEqual(["register_days"]);
});

test("finds an entry that is dated on another day", async () => {
  const change =
    "UPDATE journal_entries SET transaction_date = transaction_date + interval '40 days' WHERE sequence = 150";
  expect(await listDifferentAfter(change)).toEqual(["account_days", "register_days"]);
});

test("finds figures that differ by what cancels out, with the months summed anew", async () => {
  const report = await pool.withTransaction(async (transaction) => {
    await passTriggers(transaction);
    for (const [code, change] of [
      ["1000", wrap],
      ["2000", -wrap],
    ] as const) {
      await runText(
        transaction,
        `UPDATE account_days SET functional_debits = functional_debits + ${change}
          WHERE ctid = (SELECT min(ctid) FROM account_days WHERE gl_account_code = '${code}')`,
      );
    }
    await upsertMonths(transaction, ledgerId, { fromDay: "-infinity", untilDay: "infinity" });
    return auditLedgers(transaction, ledgerId);
  });
  const findings = report?.checks.find(({ name }) => name === "day-sums")?.findings ?? [];
  expect(new Set(findings.map(({ what }) => what))).toEqual(
    new Set([
      "has figures that are not those of its entries in account_days",
      "has figures that are not those of its entries in journal_months",
    ]),
  );
});
