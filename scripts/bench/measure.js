// What benchmarks measure with: the load client in a process of its own, and pgbench on the same database.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

export const machine = { machine: `${cpus().length} × ${cpus()[0]?.model}`, node: process.version };

/** Runs the load client with a plan and gives its figures. */
export function runClient(server, plan) {
  const { host, port, apiKey, apiSecret, ledgerId } = server;
  const whole = { host, port, apiKey, apiSecret, ledgerId, warmupSeconds: 3, ...plan };
  const output = execFileSync(
    process.execPath,
    [join(here, "load-client.js"), JSON.stringify(whole)],
    { maxBuffer: 1 << 26 },
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

/** Transactions a second of pgbench on a server's database; null where there is no pgbench. */
export function runPgbench(pgbench, server, seconds) {
  if (!existsSync(pgbench)) return null;
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
  const psql = join(dirname(pgbench), "psql");
  execFileSync(psql, ["-qc", pgbenchSchema], { env });
  const output = execFileSync(
    pgbench,
    ["-n", "-M", "prepared", "-c", "32", "-j", "2", "-T", String(seconds), "-f", script],
    { env, stdio: ["ignore", "pipe", "ignore"] },
  ).toString();
  rmSync(folder, { recursive: true });
  return Math.round(Number(/tps = ([0-9.]+)/.exec(output)?.[1]));
}
