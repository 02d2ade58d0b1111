// Measures a fresh server with `ledgerctl bench`, between runs of pgbench on the same database, and prints the tables of
// docs/performance.md. A machine that is shared changes its speed within minutes, so each load runs in several rounds;
// shown are the medians of the rounds, and of their ratios to the two runs of pgbench around them.
//
//   node scripts/bench/table.js [--rounds 3] [--seconds 10] [--existing 0] [--only LOAD] [--workers 1] [--pgbench PATH]
//   node scripts/bench/table.js --once "overload --connections 2000"
//
// `--existing` wallets are made and written to first; `--only` leaves out loads whose names do not have that part.
// `--workers` is how many processes the server has.
// `--once` runs one benchmark without pgbench and prints its report: beside it are a second server (`--read-url`
// where the arguments say SECOND) or a second ledger (where they say OTHER).
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { root } from "../import-source.js";
import { startBenchServer, startSecondServer } from "./server.js";
import { median, printRow } from "./table-rows.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "10" },
    existing: { type: "string", default: "0" },
    only: { type: "string", default: "" },
    once: { type: "string", default: "" },
    workers: { type: "string", default: "1" },
    pgbench: { type: "string", default: "/usr/lib/postgresql/15/bin/pgbench" },
  },
});
const existing = Number(values.existing);
const binary = join(root, "bin", "ledgerctl.js");
const pgbenchSeconds = 8;
const wallets = "wallets --wallets 10000";
const transfers = "transfers --wallets 10000";
const loads = [
  ...(existing > 0
    ? [
        {
          name: `any of ${existing}, 256 connections`,
          args: `wallets --wallets ${existing} --connections 256`,
          rounds: 1,
        },
      ]
    : []),
  { name: "random wallets, 64 connections", args: wallets },
  { name: "random wallets, 256 connections", args: `${wallets} --connections 256` },
  { name: "hot wallet, 64 connections", args: "wallets --hot" },
  { name: "lone wallet writer", args: `${wallets} --connections 1` },
  { name: "bulks of 500, 2 connections", args: `${wallets} --bulk 500 --connections 2` },
  { name: "transfers, 64 connections", args: transfers },
  {
    name: "transfers in atomic bulks of 500",
    args: `${transfers} --bulk 500 --atomic --connections 2`,
  },
  { name: "balance reads, 64 connections", args: `${wallets} --balances` },
  { name: "entries, 64 connections", args: "entries" },
  { name: "entries in bulks of 500, 2 connections", args: "entries --bulk 500 --connections 2" },
  { name: "lone entry writer", args: "entries --connections 1" },
].filter(({ name }) => name.includes(values.only));

const environmentOf = (server) => ({
  ...process.env,
  HOME: server.home,
  LEDGERCTL_URL: server.url,
  LEDGERCTL_API_KEY: server.apiKey,
  LEDGERCTL_API_SECRET: server.apiSecret,
  LEDGERCTL_LEDGER: server.ledgerId,
});

/** Runs `ledgerctl bench`; resolves with its report, and rejects where its verification failed. */
async function bench(server, args) {
  const whole = [binary, "bench", ...args.split(" "), "--server-pid", String(server.pid), "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, whole, {
    env: environmentOf(server),
  });
  return JSON.parse(stdout);
}

// One transaction a write: an upsert of a balance and an insert into a log with two indexes.
const pgbenchSchema = `
DROP TABLE IF EXISTS bench_balances, bench_log;
CREATE TABLE bench_balances (id bigint PRIMARY KEY, balance numeric NOT NULL);
CREATE TABLE bench_log (id bigserial PRIMARY KEY, account bigint NOT NULL, delta numeric NOT NULL,
  external_id text NOT NULL);
CREATE INDEX ON bench_log (account, id);
`;
const pgbenchWrite = `\\set account random(1, 10000)
BEGIN;
INSERT INTO bench_balances AS held (id, balance) VALUES (:account, 1)
  ON CONFLICT (id) DO UPDATE SET balance = held.balance + EXCLUDED.balance;
INSERT INTO bench_log (account, delta, external_id) VALUES (:account, 1, 'x');
COMMIT;
`;

/** Transactions a second of pgbench on a server's database, with 32 clients. */
function runPgbench(server) {
  const folder = mkdtempSync(join(tmpdir(), "ledgerctl-pgbench-"));
  const run = (script, ...args) => {
    const file = join(folder, "script.sql");
    writeFileSync(file, script);
    return execFileSync(values.pgbench, ["-n", ...args, "-f", file], {
      env: {
        ...process.env,
        PGHOST: join(server.dataDir, "socket"),
        PGUSER: "ledgerctl",
        PGDATABASE: "ledgerctl",
        PGPASSWORD: readFileSync(join(server.dataDir, "database-password"), "utf8").trim(),
      },
      stdio: ["ignore", "pipe", "ignore"],
    }).toString();
  };
  run(pgbenchSchema, "-t", "1");
  const prepared = ["-M", "prepared", "-c", "32", "-j", "2", "-T", String(pgbenchSeconds)];
  const output = run(pgbenchWrite, ...prepared);
  rmSync(folder, { recursive: true });
  return Number(/tps = ([0-9.]+)/.exec(output)?.[1]);
}

/** Runs a load's rounds between runs of pgbench and gives its row. */
async function measure(server, { name, args, rounds = Number(values.rounds) }) {
  const reports = [];
  const ratios = [];
  const pgbench = [runPgbench(server)];
  const perSecond = ({ writesPerSecond, requestsPerSecond }) =>
    writesPerSecond ?? requestsPerSecond;
  for (let round = 0; round < rounds; round += 1) {
    const report = await bench(server, `${args} --duration ${values.seconds}s`);
    reports.push(report);
    pgbench.push(runPgbench(server));
    ratios.push((2 * perSecond(report)) / (pgbench.at(-2) + pgbench.at(-1)));
  }
  const latency = (share) => median(reports.map(({ latencyMs }) => latencyMs[share])).toFixed(1);
  return [
    name,
    Math.round(median(reports.map(perSecond))).toLocaleString("en"),
    median(ratios).toFixed(2),
    `${latency("p50")} ms, ${latency("p99")} ms`,
    `${Math.round(Math.min(...pgbench))} to ${Math.round(Math.max(...pgbench))}`,
    // The report's is of the first process, which with workers answers nothing.
    values.workers === "1" ? `${reports.at(-1).serverMemoryMib.end} MiB` : "",
  ];
}

/** Runs one benchmark beside what its arguments ask for. */
async function runOnce(server, args) {
  const ledgerctl = (command) => {
    const words = [binary, ...command.split(" "), "--data-dir", server.dataDir, "--json"];
    return JSON.parse(execFileSync(process.execPath, words, { env: environmentOf(server) }));
  };
  const second = args.includes("SECOND") ? await startSecondServer(server) : null;
  let whole = args.replace("SECOND", second?.url ?? "");
  if (args.includes("OTHER")) {
    const { id } = ledgerctl(`ledger create Other --org ${server.organizationId} --currency USD`);
    for (const code of ["1", "2"]) ledgerctl(`account add ${code} ${code} --ledger ${id}`);
    whole = whole.replace("OTHER", id);
  }
  try {
    console.log(JSON.stringify(await bench(server, whole), null, 2));
  } finally {
    await second?.stop();
  }
}

console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n`);
const server = await startBenchServer(root, ["--workers", values.workers]);
try {
  if (values.once !== "") await runOnce(server, values.once);
  else {
    // A server that has just started compiles its code.
    for (const args of [wallets, "entries"]) await bench(server, `${args} --duration 5s`);
    printRow(["load", "a second", "ratio to pgbench", "p50, p99", "pgbench", "memory"]);
    printRow(["---", "---", "---", "---", "---", "---"]);
    for (const load of loads) printRow(await measure(server, load));
  }
} finally {
  await server.stop();
}
