// What the logs of ledgers cost: their first checkpoint over a long journal, proofs of it, and many ledgers that grow.
//
//   node scripts/bench/logs.js journal [--entries 10000000]
//   node scripts/bench/logs.js ledgers [--ledgers 1000] [--minutes 3]
//
// `journal` fills a ledger past the service, and then says that it has these entries: shown is how long it takes until the
// first checkpoint over all of them, with the CPU time of that, and then how long proofs take, each as a client gets it. Of 200 entries all over the
// journal the leaves are true, so that they can be proven.
// `ledgers` grows each of them every 5 s, with a checkpoint a minute: shown is the CPU time of the server and of PostgreSQL,
// without checkpoints and with them.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { importSource } from "../import-source.js";
import { cpuSeconds } from "./cpu-time.js";
import { startBenchServer, startSecondServer, withDatabase } from "./server.js";
import { median, printRow } from "./table-rows.js";

const { values, positionals } = parseArgs({
  options: {
    entries: { type: "string", default: "10000000" },
    ledgers: { type: "string", default: "1000" },
    minutes: { type: "string", default: "3" },
  },
  allowPositionals: true,
});
const [what] = positionals;
const { LedgerClient, canonicalJson, hashLeaf } = await importSource(
  'export { LedgerClient } from "./client/ledger-client.ts";' +
    'export { canonicalJson } from "./core/canonical.ts";' +
    'export { hashLeaf } from "./core/merkle.ts";',
);

const sampleCount = 200;
/** Entries of one statement. */
const stepEntries = 500_000;
const growEveryMs = 5_000;
/** So long that no checkpoint but a log's first is ever due. */
const never = "86400000";
const random = (below) => Math.floor(Math.random() * below);

const insertEntries = `
  INSERT INTO journal_entries (ledger_id, sequence, journal_id, external_id, transaction_date, entry_type,
                               metadata, persisted_at, leaf)`;

/** Fills a ledger, of which nobody is told yet; resolves with the ids of the entries whose leaves are true. */
async function fill(database, client, ledgerId, entryCount) {
  // Without triggers: nothing of this is administration.
  await database.query("SET session_replication_role = replica");
  for (let first = 1; first <= entryCount; first += stepEntries) {
    await database.query(
      `${insertEntries}
       SELECT $1, i, gen_random_uuid(), i::text, '2021-01-01Z'::timestamptz + i * interval '10 seconds',
              'STANDARD', '{}', now(), sha256(i::text::bytea)
         FROM generate_series($2::integer, $3::integer) AS i`,
      [ledgerId, first, Math.min(first + stepEntries - 1, entryCount)],
    );
  }
  const sequences = [...new Set(Array.from({ length: sampleCount }, () => 1 + random(entryCount)))];
  await database.query(
    `INSERT INTO journal_lines (ledger_id, sequence, line_number, gl_account_code, transaction_amount,
                                transaction_currency, functional_amount, functional_currency)
     SELECT $1, i, line, CASE line WHEN 0 THEN '1000' ELSE '4000' END, amount, 'USD', amount, 'USD'
       FROM unnest($2::bigint[]) AS i, generate_series(0, 1) AS line,
            LATERAL (SELECT (1 - 2 * line) * (1 + i % 1000) AS amount) AS amounts`,
    [ledgerId, sequences],
  );
  const { rows } = await database.query(
    `SELECT journal_id AS id, sequence FROM journal_entries
      WHERE ledger_id = $1 AND sequence = ANY ($2::bigint[])`,
    [ledgerId, sequences],
  );
  for (const { id, sequence } of rows) {
    const { reversedByJournalId, ...document } = await client.getEntry(ledgerId, id);
    await database.query(
      "UPDATE journal_entries SET leaf = $3 WHERE ledger_id = $1 AND sequence = $2",
      [ledgerId, sequence, hashLeaf(canonicalJson(document))],
    );
  }
  await database.query("VACUUM ANALYZE journal_entries");
  return rows.map(({ id }) => id);
}

/** Says that a ledger has the entries that it was filled with; resolves with the ms until a checkpoint covers them. */
async function firstCheckpoint(database, client, ledgerId, entryCount) {
  const beganMs = performance.now();
  await database.query(
    "UPDATE journal_heads SET last_sequence = $2, last_persisted_at = now() WHERE ledger_id = $1",
    [ledgerId, entryCount],
  );
  while ((await client.getLog(ledgerId, "journal")).size < entryCount) await sleep(20);
  return performance.now() - beganMs;
}

/** Waits until the server has summed by day what was filled in. */
async function untilSummed(database, ledgerId, entryCount) {
  for (;;) {
    const { rows } = await database.query(
      "SELECT last_sequence FROM summed_journals WHERE ledger_id = $1",
      [ledgerId],
    );
    // The last few are left until there are more of them.
    if (Number(rows[0]?.last_sequence ?? 0) >= entryCount - 10_000) return;
    await sleep(1_000);
  }
}

async function measureJournal(entryCount) {
  const server = await startBenchServer(undefined, [], {
    LEDGERCTL_CHECKPOINT_INTERVAL_MS: "1000",
  });
  const { ledgerId } = server;
  const client = new LedgerClient(server);
  try {
    await withDatabase(server, async (database) => {
      const ids = await fill(database, client, ledgerId, entryCount);
      const before = cpuSeconds(server);
      const firstMs = await firstCheckpoint(database, client, ledgerId, entryCount);
      const after = cpuSeconds(server);
      const [inAll, inServer, inDatabase] = [
        firstMs / 1000,
        after.server - before.server,
        after.database - before.database,
      ].map((seconds) => `${seconds.toFixed(1)} s`);
      console.log(
        `first checkpoint over ${entryCount} entries: ${inAll}; CPU time of the server ${inServer}, ` +
          `of PostgreSQL ${inDatabase}\n`,
      );
      await untilSummed(database, ledgerId, entryCount);
      const from = () => 1 + random(entryCount);
      const requests = {
        "an entry, without proof": (index) => client.getEntry(ledgerId, ids[index % ids.length]),
        "inclusion of an entry": (index) =>
          client.getLogProof(ledgerId, "journal", { entryId: ids[index % ids.length] }),
        "consistency with the newest": () =>
          client.getConsistency(ledgerId, "journal", { from: from(), to: entryCount }),
        "consistency of any two sizes": () => {
          const [low, high] = [from(), from()].sort((a, b) => a - b);
          return client.getConsistency(ledgerId, "journal", { from: low, to: high });
        },
        "the newest checkpoint": () => client.getCheckpoint(ledgerId, "journal"),
      };
      printRow(["a request", "median", "p99", "longest"]);
      printRow(["---", "---", "---", "---"]);
      for (const [name, send] of Object.entries(requests)) printRow([name, ...(await times(send))]);
    });
  } finally {
    await client.close();
    await server.stop();
  }
}

async function times(send) {
  const ms = [];
  for (let index = 0; index < sampleCount; index += 1) {
    const beganMs = performance.now();
    await send(index);
    ms.push(performance.now() - beganMs);
  }
  const sorted = ms.sort((a, b) => a - b);
  const p99 = sorted[Math.floor(0.99 * sorted.length)];
  return [median(ms), p99, sorted.at(-1)].map((each) => `${each.toFixed(1)} ms`);
}

async function createLedgers(database, ledgerCount) {
  await database.query("SET session_replication_role = replica");
  const { rows } = await database.query(
    `WITH made AS (
       INSERT INTO ledgers (ledger_id, organization_id, name, functional_currency, created_at)
       SELECT gen_random_uuid(), organization_id, 'many', 'USD', now()
         FROM (SELECT organization_id FROM organizations LIMIT 1) AS one, generate_series(1, $1::integer)
       RETURNING ledger_id
     ), states AS (
       INSERT INTO ledger_states (ledger_id, status, changed_at)
       SELECT ledger_id, 'active', now() FROM made
     ), heads AS (
       INSERT INTO journal_heads (ledger_id) SELECT ledger_id FROM made
     )
     SELECT ledger_id AS id FROM made`,
    [ledgerCount],
  );
  return rows.map(({ id }) => id);
}

/** An entry more in each of the ledgers. */
async function grow(database, ledgerIds) {
  await database.query("BEGIN");
  await database.query(
    `${insertEntries}
     SELECT ledger_id, last_sequence + 1, gen_random_uuid(), NULL, now(), 'STANDARD', '{}', now(),
            sha256((ledger_id || '/' || last_sequence)::bytea)
       FROM journal_heads WHERE ledger_id = ANY ($1::uuid[])`,
    [ledgerIds],
  );
  await database.query(
    `UPDATE journal_heads SET last_sequence = last_sequence + 1, last_persisted_at = now()
      WHERE ledger_id = ANY ($1::uuid[])`,
    [ledgerIds],
  );
  await database.query("COMMIT");
}

async function countCheckpoints(database) {
  const { rows } = await database.query("SELECT count(*) FROM log_checkpoints");
  return Number(rows[0].count);
}

/** The cores that a server and its database take while the ledgers grow, and checkpoints per minute. */
async function measureGrowth(server, ledgerIds, minutes) {
  return withDatabase(server, async (database) => {
    await database.query("SET session_replication_role = replica");
    const growFor = async (ms) => {
      for (const endMs = performance.now() + ms; performance.now() < endMs;) {
        const beganMs = performance.now();
        await grow(database, ledgerIds);
        await sleep(Math.max(0, growEveryMs - (performance.now() - beganMs)));
      }
    };
    await growFor(70_000);
    const [before, checkpointsBefore] = [cpuSeconds(server), await countCheckpoints(database)];
    const beganMs = performance.now();
    await growFor(minutes * 60_000);
    const seconds = (performance.now() - beganMs) / 1000;
    const after = cpuSeconds(server);
    const checkpoints = (await countCheckpoints(database)) - checkpointsBefore;
    return {
      server: (after.server - before.server) / seconds,
      database: (after.database - before.database) / seconds,
      perMinute: (checkpoints / seconds) * 60,
    };
  });
}

async function measureLedgers(ledgerCount, minutes) {
  printRow(["checkpoints", "a minute", "server, cores", "PostgreSQL, cores"]);
  printRow(["---", "---", "---", "---"]);
  const first = await startBenchServer(undefined, [], { LEDGERCTL_CHECKPOINT_INTERVAL_MS: never });
  try {
    const ledgerIds = await withDatabase(first, (database) => createLedgers(database, ledgerCount));
    await first.halt();
    for (const [name, intervalMs] of [
      ["the first alone", never],
      ["one a minute", "60000"],
    ]) {
      const server = await startSecondServer(first, {
        LEDGERCTL_CHECKPOINT_INTERVAL_MS: intervalMs,
      });
      try {
        const cost = await measureGrowth(server, ledgerIds, minutes);
        const cores = [cost.server, cost.database].map((each) => each.toFixed(3));
        printRow([name, cost.perMinute.toFixed(0), ...cores]);
      } finally {
        await server.stop();
      }
    }
  } finally {
    await first.stop();
  }
}

if (what === "journal") await measureJournal(Number(values.entries));
else if (what === "ledgers") await measureLedgers(Number(values.ledgers), Number(values.minutes));
else throw new Error("usage: node scripts/bench/logs.js journal|ledgers [options]");
