// Benchmark: closing a period of many entries, and checking it. The entries are put into the database by
// SQL, leaves and all; the close, the writes beside it, the bundle, its check and a proof are real.
//
//   node scripts/bench/closes.js [--entries 1000000] [--psql /path/to/psql]
import { execFileSync, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startBenchServer } from "./server.js";
import { machine, runPsql } from "./measure.js";
import { signedHeaders } from "./signed-requests.js";

const { values } = parseArgs({
  options: {
    entries: { type: "string", default: "1000000" },
    psql: { type: "string", default: "/usr/lib/postgresql/15/bin/psql" },
  },
});
const binary = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "bin", "ledgerctl.js");

/** Entries of two lines, one a second in 2026, with their leaves: canonical JSON written by SQL. */
const fill = (ledgerId, entries) => `
  BEGIN;
  CREATE TEMP TABLE made AS
    SELECT n AS sequence, ('019b0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0')) AS id,
           '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second' AS dated
      FROM generate_series(1, ${entries}) AS n;
  INSERT INTO journal_entries
    (ledger_id, sequence, journal_id, transaction_date, entry_type, metadata, persisted_at, leaf)
  SELECT '${ledgerId}', sequence, id::uuid, dated, 'STANDARD', '{}', '2026-11-01T00:00:00Z',
         sha256('\\x00'::bytea || convert_to(
           '{"description":null,"entryType":"STANDARD","eventType":null,"externalId":null,"journalId":"'
           || id || '","ledgerId":"${ledgerId}","lines":['
           || '{"description":null,"functionalAmount":"125","functionalCurrency":"USD","glAccountCode":"1000","spotRate":null,"transactionAmount":"125","transactionCurrency":"USD"},'
           || '{"description":null,"functionalAmount":"-125","functionalCurrency":"USD","glAccountCode":"4000","spotRate":null,"transactionAmount":"-125","transactionCurrency":"USD"}'
           || '],"metadata":{},"originAccount":null,"originSystem":null,"persistedAt":"2026-11-01T00:00:00.000Z","postingStatus":"POSTED","reversesJournalId":null,"sequence":'
           || sequence || ',"transactionDate":"'
           || to_char(dated AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"}', 'UTF8'))
    FROM made;
  INSERT INTO journal_lines
    (ledger_id, sequence, line_number, gl_account_code, transaction_amount, transaction_currency,
     functional_amount, functional_currency)
  SELECT '${ledgerId}', sequence, number, code, amount, 'USD', amount, 'USD'
    FROM made, (VALUES (0, '1000', 125), (1, '4000', -125)) AS line (number, code, amount);
  UPDATE journal_heads SET last_sequence = ${entries}, last_persisted_at = '2026-11-01T00:00:00Z'
   WHERE ledger_id = '${ledgerId}';
  COMMIT;
  ANALYZE;`;

async function send(server, method, target, body = "") {
  const startedMs = performance.now();
  const reply = await fetch(server.url + target, {
    method,
    headers: {
      ...signedHeaders(server, method, target, body),
      // What runs in between blocks this process for longer than connections are kept.
      connection: "close",
      ...(body === "" ? {} : { "content-type": "application/json" }),
    },
    ...(body === "" ? {} : { body }),
  });
  const value = await reply.json();
  if (!reply.ok) throw new Error(JSON.stringify(value));
  return { value, ms: performance.now() - startedMs };
}

/** Writes one after the other until told to stop; the longest and the median, in ms. */
async function writeUntil(isDone, write) {
  const times = [];
  for (let number = 0; !isDone(); number += 1) times.push((await write(number)).ms);
  times.sort((a, b) => a - b);
  return { writes: times.length, p50Ms: times[times.length >> 1] ?? 0, maxMs: times.at(-1) ?? 0 };
}

/** Runs a command; how long it took and the most memory it had, in MB (GNU time). */
function timed(args, env) {
  const startedMs = performance.now();
  const { status, stderr } = spawnSync("/usr/bin/time", ["-f", "%M", process.execPath, ...args], {
    env,
    encoding: "utf8",
  });
  const residentKb = Number(stderr.trim().split("\n").at(-1));
  return {
    exitCode: status,
    seconds: (performance.now() - startedMs) / 1000,
    residentMb: Math.round(residentKb / 1024),
  };
}

const server = await startBenchServer();
try {
  const ledger = `/v1/ledgers/${server.ledgerId}`;
  const org = server.organizationId;
  const databaseEnv = { ...process.env, HOME: server.home };
  const admin = (...args) =>
    execFileSync(process.execPath, [binary, ...args, "--data-dir", server.dataDir, "--json"], {
      env: databaseEnv,
    }).toString();
  const other = JSON.parse(admin("ledger", "create", "Other", "--org", org, "--currency", "USD"));
  admin("account", "add", "1", "One", "--ledger", other.id);
  admin("account", "add", "2", "Two", "--ledger", other.id);
  runPsql(values.psql, server, fill(server.ledgerId, Number(values.entries)));

  let isClosed = false;
  let residentMb = server.residentMb();
  const isDone = () => {
    residentMb = Math.max(residentMb, server.residentMb());
    return isClosed;
  };
  const wallet = writeUntil(isDone, (number) =>
    send(
      server,
      "POST",
      `/v1/wallets/${server.ledgerId}:w/credit`,
      JSON.stringify({ amount: "1", assetCode: "USD", externalId: `w-${number}` }),
    ),
  );
  const lines = [
    { glAccountCode: "1", functionalAmount: "1" },
    { glAccountCode: "2", functionalAmount: "-1" },
  ];
  const others = writeUntil(isDone, () =>
    send(server, "POST", `/v1/ledgers/${other.id}/journal-entries`, JSON.stringify({ lines })),
  );
  await sleep(1_000);
  const close = await send(
    server,
    "POST",
    `${ledger}/period-closes`,
    JSON.stringify({ periodId: "2026" }),
  );
  isClosed = true;
  const bundle = join(server.home, "bundle.ndjson");
  const env = {
    ...databaseEnv,
    LEDGERCTL_URL: server.url,
    LEDGERCTL_API_KEY: server.apiKey,
    LEDGERCTL_API_SECRET: server.apiSecret,
    LEDGERCTL_LEDGER: server.ledgerId,
  };
  const report = {
    ...machine,
    entries: close.value.entryCount,
    closeSeconds: close.ms / 1000,
    serverResidentMbAtMost: residentMb,
    "wallet writes of the ledger meanwhile": await wallet,
    "entries of another ledger meanwhile": await others,
    bundle: timed([binary, "bundle", "2026", "--out", bundle], env),
    verify: timed(
      [binary, "merkle", "verify", "--bundle", bundle, "--expect", close.value.closeHash],
      env,
    ),
  };
  const proofs = [];
  for (let read = 0; read < 21; read += 1) {
    const entryId = `019b0000-0000-7000-8000-${(1 + read * 40_000).toString(16).padStart(12, "0")}`;
    const target = `${ledger}/period-closes/${close.value.closeId}/proof?entryId=${entryId}`;
    proofs.push((await send(server, "GET", target)).ms);
  }
  proofs.sort((a, b) => a - b);
  console.log(
    JSON.stringify({ ...report, proofP50Ms: proofs[10], proofMaxMs: proofs[20] }, null, 2),
  );
} finally {
  await server.stop();
}
