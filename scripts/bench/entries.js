// Benchmark: signed posts of one entry each, against the embedded database, with server, client and
// database on one machine; beside it pgbench on the same database, for the ratio.
//
//   node scripts/bench/entries.js [--connections 64] [--seconds 20] [--pgbench /path/to/pgbench]
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startBenchServer } from "./bench-server.js";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({
  options: {
    connections: { type: "string", default: "64" },
    seconds: { type: "string", default: "20" },
    pgbench: { type: "string", default: "/usr/lib/postgresql/15/bin/pgbench" },
  },
});

function runClient(server, connections, seconds, requests) {
  const plan = {
    host: server.host,
    port: server.port,
    apiKey: server.apiKey,
    apiSecret: server.apiSecret,
    ledgerId: server.ledgerId,
    connections,
    seconds,
    warmupSeconds: 3,
    requests,
    kind: "entries",
    accounts: ["1000", "1100", "2000", "3000", "4000", "5000"],
  };
  const output = execFileSync(
    process.execPath,
    [join(here, "load-client.js"), JSON.stringify(plan)],
    {
      maxBuffer: 1 << 26,
    },
  );
  return JSON.parse(output.toString());
}

// One transaction a write: an upsert of a balance and an insert into a log with two indexes.
const pgbenchSchema = `
  DROP TABLE IF EXISTS bench_balances, bench_log;
  CREATE TABLE bench_balances (id bigint PRIMARY KEY, balance numeric NOT NULL);
  CREATE TABLE bench_log (id bigserial PRIMARY KEY, account bigint NOT NULL, delta numeric NOT NULL,
    external_id text NOT NULL);
  CREATE INDEX ON bench_log (account, id);`;
const pgbenchScript = `\\set account random(1, 10000)
BEGIN;
INSERT INTO bench_balances AS held (id, balance) VALUES (:account, 1)
  ON CONFLICT (id) DO UPDATE SET balance = held.balance + EXCLUDED.balance;
INSERT INTO bench_log (account, delta, external_id) VALUES (:account, 1, 'x');
COMMIT;
`;

function runPgbench(server, seconds) {
  if (!existsSync(values.pgbench)) return null;
  const folder = mkdtempSync(join(tmpdir(), "ledgerctl-pgbench-"));
  const script = join(folder, "write.sql");
  writeFileSync(script, pgbenchScript);
  const env = {
    ...process.env,
    PGHOST: join(server.dataDir, "socket"),
    PGUSER: "ledgerctl",
    PGDATABASE: "ledgerctl",
    PGOPTIONS: "-c client_min_messages=warning",
    PGPASSWORD: readFileSync(join(server.dataDir, "database-password"), "utf8").trim(),
  };
  const psql = join(dirname(values.pgbench), "psql");
  execFileSync(psql, ["-qc", pgbenchSchema], { env });
  const output = execFileSync(
    values.pgbench,
    ["-n", "-M", "prepared", "-c", "32", "-j", "2", "-T", String(seconds), "-f", script],
    { env, stdio: ["ignore", "pipe", "ignore"] },
  ).toString();
  rmSync(folder, { recursive: true });
  return Math.round(Number(/tps = ([0-9.]+)/.exec(output)?.[1]));
}

const server = await startBenchServer();
try {
  const seconds = Number(values.seconds);
  const connections = Number(values.connections);
  const half = Math.max(5, Math.round(seconds / 2));
  const before = runPgbench(server, half);
  const loaded = runClient(server, connections, seconds, seconds * 12_000 + 50_000);
  const after = before === null ? null : runPgbench(server, half);
  const alone = runClient(server, 1, 5, 20_000);
  const pgbench = before === null ? null : Math.round((before + after) / 2);
  const report = {
    machine: `${cpus().length} × ${cpus()[0]?.model}`,
    node: process.version,
    [`${connections} connections`]: loaded,
    "1 connection": alone,
    pgbenchPerSecond: pgbench === null ? null : [before, after],
    ratioToPgbench: pgbench === null ? null : Number((loaded.perSecond / pgbench).toFixed(2)),
    serverResidentMb: server.residentMb(),
  };
  console.log(JSON.stringify(report, null, 2));
} finally {
  await server.stop();
}
