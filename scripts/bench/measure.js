// What benchmarks measure with: clients in a process of their own, the server's memory, psql and pgbench
// on the same database.
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));

/** How long posting may take to catch up, in a check. */
const postedWithinMs = 30_000;

export const machine = { machine: `${cpus().length} × ${cpus()[0]?.model}`, node: process.version };

/** Runs a client with a plan; resolves with its figures. */
export async function runClient(server, plan, script = "load-client.js") {
  const { host, port, apiKey, apiSecret, ledgerId } = server;
  const whole = { host, port, apiKey, apiSecret, ledgerId, warmupSeconds: 3, ...plan };
  const client = await promisify(execFile)(
    process.execPath,
    [join(here, script), JSON.stringify(whole)],
    { maxBuffer: 1 << 26 },
  );
  return JSON.parse(client.stdout);
}

/** Notes the server's resident memory every so often, from now until the function is called that it gives. */
export function watchResidentMb(server, everyMs) {
  const samples = [];
  const timer = setInterval(() => samples.push(server.residentMb()), everyMs);
  return () => {
    clearInterval(timer);
    return [...samples, server.residentMb()];
  };
}

/** Median, 99th percentile and maximum of latencies in ms; zeros of none. */
export function percentilesOf(latenciesMs) {
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (share) => {
    const latencyMs = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return Number(latencyMs.toFixed(2));
  };
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

/** The environment in which programs of PostgreSQL find a server's database. */
function databaseEnv(server) {
  return {
    ...process.env,
    PGHOST: join(server.dataDir, "socket"),
    PGUSER: "ledgerctl",
    PGDATABASE: "ledgerctl",
    PGOPTIONS: "-c client_min_messages=warning",
    PGPASSWORD: readFileSync(join(server.dataDir, "database-password"), "utf8").trim(),
  };
}

/** Runs statements on a server's database; what they print, without headings. */
export function runPsql(psql, server, statements) {
  const args = ["-qAt", "-v", "ON_ERROR_STOP=1"];
  return execFileSync(psql, args, { env: databaseEnv(server), input: statements }).toString();
}

/** Of the server's ledger: what the wallets' logs hold, the balances, and what was posted of them. */
const walletSums = (ledgerId) => `
  SELECT json_build_object(
    'writes', (SELECT count(*) FROM wallet_writes WHERE ledger_id = '${ledgerId}'),
    'amount', (SELECT coalesce(sum(amount), 0)::text FROM wallet_writes WHERE ledger_id = '${ledgerId}'),
    'balances', (SELECT coalesce(sum(balance), 0)::text FROM wallets WHERE ledger_id = '${ledgerId}'),
    'posted', (SELECT coalesce(-sum(functional_amount), 0)::text FROM journal_lines
                WHERE ledger_id = '${ledgerId}' AND gl_account_code = 'wallets:USD'));`;

/**
 * Looks whether the wallets of a server, which were only credited, hold exactly so many writes, and whether
 * all of it comes to be posted; waits for the posting.
 */
export async function checkWallets(psql, server, accepted) {
  const giveUpMs = performance.now() + postedWithinMs;
  for (;;) {
    const sums = JSON.parse(runPsql(psql, server, walletSums(server.ledgerId)));
    const isWhole = sums.writes === accepted && sums.balances === sums.amount;
    const isPosted = sums.posted === sums.balances;
    if ((isWhole && isPosted) || performance.now() > giveUpMs) {
      return { accepted, ...sums, nothingLost: isWhole, allPosted: isPosted };
    }
    await sleep(1_000);
  }
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
  runPsql(join(dirname(pgbench), "psql"), server, pgbenchSchema);
  const output = execFileSync(
    pgbench,
    ["-n", "-M", "prepared", "-c", "32", "-j", "2", "-T", String(seconds), "-f", script],
    { env: databaseEnv(server), stdio: ["ignore", "pipe", "ignore"] },
  ).toString();
  rmSync(folder, { recursive: true });
  return Math.round(Number(/tps = ([0-9.]+)/.exec(output)?.[1]));
}
