// How fast writes are in a database that is full, compared with an empty one: two servers, each on an embedded database of
// its own, get the same load in alternating slices. PostgreSQL's memory is a fiftieth of the full one's data in both.
//
//   node scripts/bench/full-database.js [--entries 7000000] [--wallets 1000000] [--rounds 3] [--slice 2]
//
// The full one has so many entries of two lines over 200 accounts and five years, and so many wallets with nine writes each:
// 31 million rows unless told otherwise. They are written past the service: the hashes of them are none. Filling it
// takes some ten minutes and 9 GB, and then the server's sums by day take as long.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startBenchServer, startSecondServer, withDatabase } from "./server.js";
import { prepareSlices, runInTurn } from "./slices.js";
import { comparison, printRow } from "./table-rows.js";

const { values } = parseArgs({
  options: {
    entries: { type: "string", default: "7000000" },
    wallets: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "3" },
    slice: { type: "string", default: "2" },
  },
});
const entryCount = Number(values.entries);
const walletCount = Number(values.wallets);
const turns = {
  rounds: Number(values.rounds),
  sliceMs: Number(values.slice) * 1000,
  warmUpMs: 5_000,
};
/** Entries of one statement. */
const stepEntries = 500_000;

const loads = [
  { name: "random wallets, 64 connections", connections: 64 },
  { name: "lone wallet writer, p50", connections: 1, unit: "ms" },
  { name: "bulks of 500, 2 connections", connections: 2, bulk: 500 },
  { name: "entries, 64 connections", connections: 64, kind: "entries" },
  { name: "entries in atomic bulks of 500", connections: 2, kind: "entries", bulk: 500 },
  { name: "lone entry writer, p50", connections: 1, unit: "ms", kind: "entries" },
];

/** Fills the database of a running server, and resolves with the bytes that it has then. */
async function fill(client, ledgerId) {
  // Without triggers: nothing of this is administration.
  await client.query("SET session_replication_role = replica");
  await client.query(
    `INSERT INTO wallets (ledger_id, caller_key, wallet_id, asset_code, balance, held, last_seq, last_at,
                          log_hash, chained_after)
     SELECT $1, 'full' || i, gen_random_uuid(), 'USD', 900, 0, 9, now(), sha256(i::text::bytea), 0
       FROM generate_series(1, $2::integer) AS i`,
    [ledgerId, walletCount],
  );
  await client.query(
    `INSERT INTO wallet_writes (ledger_id, wallet_id, seq, type, amount, balance, held, external_id, at)
     SELECT $1, wallet_id, seq, 'credit', 100, 100 * seq, 0, 'full' || seq, now()
       FROM wallets CROSS JOIN LATERAL (SELECT seq FROM generate_series(1, 9) AS seq OFFSET 0) AS seqs
      WHERE ledger_id = $1`,
    [ledgerId],
  );
  for (let first = 1; first <= entryCount; first += stepEntries) {
    const span = [ledgerId, first, Math.min(first + stepEntries - 1, entryCount)];
    await client.query(
      `INSERT INTO journal_entries (ledger_id, sequence, journal_id, external_id, transaction_date, entry_type,
                                    metadata, persisted_at, leaf)
       SELECT $1, i, gen_random_uuid(), 'full' || i,
              '2021-01-01Z'::timestamptz + (random() * 1826 * 86400)::integer * interval '1 second',
              'STANDARD', '{}', now(), sha256(i::text::bytea)
         FROM generate_series($2::integer, $3::integer) AS i`,
      span,
    );
    await client.query(
      `INSERT INTO journal_lines (ledger_id, sequence, line_number, gl_account_code, transaction_amount,
                                  transaction_currency, functional_amount, functional_currency)
       SELECT $1, i, line, ((hashint8(2 * i + line) & 2147483647) % 200)::text, amount, 'USD', amount, 'USD'
         FROM generate_series($2::bigint, $3::bigint) AS i, generate_series(0, 1) AS line,
              LATERAL (SELECT (1 - 2 * line) * (1 + i % 1000) AS amount) AS amounts`,
      span,
    );
  }
  await client.query(
    "UPDATE journal_heads SET last_sequence = $2, last_persisted_at = now() WHERE ledger_id = $1",
    [ledgerId, entryCount],
  );
  await client.query("VACUUM ANALYZE");
  await untilSummed(client, ledgerId);
  const { rows } = await client.query("SELECT pg_database_size('ledgerctl') AS bytes");
  return Number(rows[0].bytes);
}

/** Waits until the server has summed what was filled in. */
async function untilSummed(client, ledgerId) {
  const summed = async () => {
    const { rows } = await client.query(
      "SELECT last_sequence FROM summed_journals WHERE ledger_id = $1",
      [ledgerId],
    );
    return Number(rows[0]?.last_sequence ?? 0);
  };
  // The last few are left until there are more of them.
  while ((await summed()) < entryCount - 10_000) await sleep(1_000);
  await client.query("CHECKPOINT");
}

/** Starts servers anew, with so much memory for the pages of each database. */
async function withBuffers(servers, megabytes) {
  const restarted = [];
  for (const server of servers) {
    await server.halt();
    const file = join(server.dataDir, "postgres", "postgresql.conf");
    appendFileSync(file, `shared_buffers = '${megabytes}MB'\n`);
    restarted.push(await startSecondServer(server));
  }
  return restarted;
}

const servers = [await startBenchServer(), await startBenchServer()];
try {
  const [, full] = servers;
  const bytes = await withDatabase(full, (client) => fill(client, full.ledgerId));
  const buffersMb = Math.round(bytes / 50 / 2 ** 20);
  console.log(`${Math.round(bytes / 2 ** 20)} MB of data, shared_buffers ${buffersMb} MB\n`);
  const restarted = await withBuffers(servers, buffersMb);
  try {
    printRow(["load", "empty", "full", "full/empty", "rounds"]);
    printRow(["---", "---", "---", "---", "---"]);
    for (const load of loads) {
      const sides = [];
      for (const server of restarted) sides.push(await prepareSlices(server, load));
      printRow(comparison(load, await runInTurn(sides, load, turns)));
    }
  } finally {
    for (const server of restarted) await server.stop();
  }
} finally {
  for (const server of servers) await server.stop();
}
