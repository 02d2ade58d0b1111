// How long what reads sums by day or registers, and searches, take in a long journal, whose dates are in no order.
//
//   node scripts/bench/long-books.js DATABASE_URL [--entries 10000000]
//
// The database has to be migrated, and gets a ledger of its own with 200 accounts and five years, written past the
// service: its leaves are no hashes. Shown are the median and the longest of 15 reads, in ms.
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import pg from "pg";
import { importSource } from "../import-source.js";
import { median, printRow } from "./table-rows.js";

const { values, positionals } = parseArgs({
  options: { entries: { type: "string", default: "10000000" } },
  allowPositionals: true,
});
const [databaseUrl] = positionals;
if (databaseUrl === undefined) {
  throw new Error("usage: node scripts/bench/long-books.js DATABASE_URL [--entries N]");
}
const entryCount = Number(values.entries);
const readCount = 15;
const ledgerId = randomUUID();

const engine = await importSource(
  [
    'export { DaySums } from "./engine/day-sums.ts";',
    'export { SummedJournal } from "./engine/summed-journal.ts";',
    'export { previewClose } from "./engine/close-previews.ts";',
    'export { readTrialBalance } from "./engine/trial-balances.ts";',
    'export { readBalanceAsOf, readRegister } from "./engine/registers.ts";',
    'export { readStatement } from "./engine/statements.ts";',
    'export { searchJournal } from "./engine/entry-searches.ts";',
    'export { everyEntry } from "./store/entry-lists.ts";',
    'export { Pool } from "./store/database/pool.ts";',
  ].join(""),
);
const { DaySums, Pool, SummedJournal, everyEntry, previewClose, readTrialBalance } = engine;

async function fill() {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  // Without triggers: nothing of this is administration.
  await client.query("SET session_replication_role = replica");
  const statements = [
    `INSERT INTO ledgers (ledger_id, organization_id, name, functional_currency, created_at)
     SELECT $1, gen_random_uuid(), 'long', 'EUR', now() WHERE $2 > 0`,
    `INSERT INTO accounts (ledger_id, gl_account_code, name, type, created_at)
     SELECT $1, i::text, 'account ' || i, (ARRAY['asset', 'liability', 'equity', 'income', 'expense'])[1 + i % 5], now()
       FROM generate_series(0, 199) AS i WHERE $2 > 0`,
    `INSERT INTO journal_entries (ledger_id, sequence, journal_id, external_id, description, transaction_date,
                                  entry_type, metadata, persisted_at, leaf)
     SELECT $1, i, gen_random_uuid(), i::text, 'invoice of customer ' || i % 10000,
            '2021-01-01Z'::timestamptz + (random() * 1826 * 86400)::integer * interval '1 second',
            'STANDARD', '{}', now(), sha256(i::text::bytea)
       FROM generate_series(1, $2::integer) AS i`,
    `INSERT INTO journal_lines (ledger_id, sequence, line_number, gl_account_code, transaction_amount,
                                transaction_currency, functional_amount, functional_currency)
     SELECT $1, i, line, ((hashint8(2 * i + line) & 2147483647) % 200)::text, amount, 'EUR', amount, 'EUR'
       FROM generate_series(1, $2::bigint) AS i, generate_series(0, 1) AS line,
            LATERAL (SELECT (1 - 2 * line) * (1 + i % 1000) AS amount) AS amounts`,
    "INSERT INTO journal_heads SELECT $1, $2, now()",
    `INSERT INTO account_balances
     SELECT $1, gl_account_code, '', sum(functional_amount), count(DISTINCT sequence) FROM journal_lines
      WHERE ledger_id = $1 AND sequence <= $2 GROUP BY gl_account_code`,
  ];
  for (const statement of statements) await client.query(statement, [ledgerId, entryCount]);
  return client;
}

const client = await fill();
const pool = new Pool({ databaseUrl, connectionsMax: 2, answerTimeoutMs: 3_600_000 });
const sums = new DaySums(pool, {
  intervalMs: 1_000,
  onFailure: (error) => {
    throw error;
  },
});
const startedMs = performance.now();
await sums.sumAll();
const seconds = (performance.now() - startedMs) / 1000;
console.log(`${entryCount} entries were summed in ${seconds.toFixed(0)} s\n`);
await client.query("VACUUM ANALYZE");
await client.end();

const random = (below) => Math.floor(Math.random() * below);
const list = (filter, place) =>
  pool.snapshot(async (snapshot) => {
    const journal = await SummedJournal.read(snapshot, ledgerId);
    const page = { afterSequence: 0, offset: 0, limit: 100, bytesMax: 8_000_000, ...place };
    const wanted = { ...everyEntry, ...filter };
    return Promise.all([journal.listEntries(wanted, page), journal.countEntries(wanted)]);
  });
const month = { from: "2023-03-01T00:00:00.000Z", to: "2023-04-01T00:00:00.000Z" };
const cut = { from: "2023-03-01T10:00:00.000Z", to: "2023-04-01T10:00:00.000Z" };
const account = { glAccountCode: "17" };
const anywhere = () => ({ afterSequence: random(0.9 * entryCount) });
const period = { startsAt: month.from, endsAt: month.to };
const request = { periodId: "2023-03", startsAt: null, endsAt: null, reason: null };
const ofAccount = (place, rest) => ({
  ...{ glAccountCode: "17", currency: null, from: null, to: null, upToSequence: null },
  ...{ after: place, limit: 100, bytesMax: 8_000_000, ...rest },
});
const register = (place = null, rest = {}) =>
  pool.snapshot((snapshot) => engine.readRegister(snapshot, ledgerId, ofAccount(place, rest)));
const placeOn = (transactionDate) => ({ transactionDate, sequence: 0, lineNumber: 0 });
const statement = (kind) =>
  pool.snapshot((snapshot) =>
    engine.readStatement(snapshot, ledgerId, { kind, from: null, to: null, by: "month" }),
  );
/** The first 100 entries that are found. */
const search = (filter, order) =>
  pool.snapshot((snapshot) =>
    engine.searchJournal(
      snapshot,
      ledgerId,
      {
        ...everyEntry,
        ...{ text: null, amountMin: null, amountMax: null, entryType: null, ...filter },
      },
      {
        ...{ order: "sequence", direction: "asc", after: null, offset: 0 },
        ...order,
        limit: 100,
        bytesMax: 8_000_000,
      },
    ),
  );
const text = { text: "customer 42" };
const latest = { direction: "desc" };
/** A share of the five years after their beginning. */
const dateAt = (share) =>
  new Date(Date.parse("2021-01-01T00:00:00Z") + share * 1826 * 86_400_000).toISOString();
/** Dates with as many entries as may be searched, nearly, where so many of all are asked for. */
const searched = (share) => ({
  from: dateAt(0),
  to: dateAt(Math.min(1, 99_000 / (share * entryCount))),
});
const reads = {
  "an account's entries, by offset": () => list(account, { offset: random(entryCount / 110) }),
  "an account's entries, after a sequence": () => list(account, anywhere()),
  "a month's entries, by offset": () => list(month, { offset: random(entryCount / 62) }),
  "a month's entries, after a sequence": () => list(month, anywhere()),
  "a month's, bounds not at midnight": () => list(cut, { offset: random(entryCount / 62) }),
  "an account's in a month": () => list({ ...account, ...month }, anywhere()),
  "trial balance of a month": () => readTrialBalance(pool, ledgerId, { ...period, close: null }),
  "trial balance to now": () => readTrialBalance(pool, ledgerId, null),
  "preview of a month's close": () => previewClose(pool, ledgerId, request),
  "balance sheet by month, five years": () => statement("balance-sheet"),
  "income statement by month": () => statement("income-statement"),
  "a register's first page": () => register(),
  "a page in its middle": () => register(placeOn("2023-06-15T00:00:00.000Z")),
  "its last page": () => register(placeOn("2025-12-28T00:00:00.000Z")),
  "a balance as of a moment": () =>
    pool.snapshot((snapshot) =>
      engine.readBalanceAsOf(snapshot, ledgerId, { glAccountCode: "17", currency: null }, cut.to),
    ),
  "the latest entries by date": () => search({}, { ...latest, order: "date" }),
  "the latest entries by sequence": () => search({}, latest),
  "a text in 99,000 entries": () => search({ ...text, ...searched(1) }),
  "a text in an account's entries": () => search({ ...text, ...account, ...searched(0.01) }),
  "an amount in 99,000 entries": () => search({ amountMin: 500n, amountMax: 500n, ...searched(1) }),
};
printRow(["100 entries, or", "median", "longest"]);
printRow(["---", "---", "---"]);
for (const [name, read] of Object.entries(reads)) {
  const times = [];
  for (let index = 0; index < readCount; index += 1) {
    const beganMs = performance.now();
    await read();
    times.push(performance.now() - beganMs);
  }
  printRow([name, `${median(times).toFixed(1)} ms`, `${Math.max(...times).toFixed(1)} ms`]);
}
await pool.end();
