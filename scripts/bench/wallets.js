// Benchmark: signed wallet writes and reads against the embedded database, with server, client and
// database on one machine. A machine that is shared changes its speed within minutes, so each kind of load runs in
// several rounds between runs of pgbench on the same database; what is told is the median of the rounds, and of
// their ratios to the two runs of pgbench around them.
//
//   node scripts/bench/wallets.js [--wallets 10000] [--existing 0] [--rounds 3] [--seconds 10]
//     [--only part-of-a-name] [--pgbench /path/to/pgbench]
//
// `--wallets` are written to and read at random; `--existing` wallets are made first; `--only` leaves out loads
// whose names do not have that part.
import { parseArgs } from "node:util";
import { startBenchServer } from "./server.js";
import { machine, runClient, runPgbench } from "./measure.js";

const { values } = parseArgs({
  options: {
    wallets: { type: "string", default: "10000" },
    existing: { type: "string", default: "0" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "10" },
    only: { type: "string", default: "" },
    pgbench: { type: "string", default: "/usr/lib/postgresql/15/bin/pgbench" },
  },
});
const wallets = Number(values.wallets);
const existing = Number(values.existing);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const writesPerBulk = 500;
const pgbenchSeconds = 8;

/** As many requests are signed beforehand as could be sent within the time. */
const loads = {
  "random wallets, 64 connections": { kind: "wallets", connections: 64, perSecondMax: 20_000 },
  "random wallets, 256 connections": { kind: "wallets", connections: 256, perSecondMax: 20_000 },
  "one hot wallet, 64 connections": {
    kind: "wallets",
    wallets: 1,
    connections: 64,
    perSecondMax: 20_000,
  },
  "a lone writer": { kind: "wallets", connections: 1, perSecondMax: 3_000 },
  "bulks of 500, 2 connections": { kind: "bulk", connections: 2, perSecondMax: 150 },
  "balance reads, 64 connections": { kind: "balances", connections: 64, perSecondMax: 40_000 },
};

const middle = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** The medians of a load's rounds; ratios are null without pgbench. */
async function measure(server, { perSecondMax, ...load }) {
  const plan = { wallets, seconds, requests: (seconds + 3) * perSecondMax, ...load };
  const pgbench = () => runPgbench(values.pgbench, server, pgbenchSeconds);
  const perSecond = ({ perSecond }) => perSecond * (load.kind === "bulk" ? writesPerBulk : 1);
  const figures = [];
  const ratios = [];
  const pgbenchPerSecond = [pgbench()];
  for (let round = 0; round < rounds; round += 1) {
    const figure = await runClient(server, plan);
    if (figure.failed > 0 || figure.ranOut) throw new Error(JSON.stringify(figure));
    figures.push(figure);
    pgbenchPerSecond.push(pgbench());
    const [before, after] = pgbenchPerSecond.slice(-2);
    ratios.push(before === null ? null : (2 * perSecond(figure)) / (before + after));
  }
  return {
    perSecond: middle(figures.map(perSecond)),
    p50Ms: middle(figures.map(({ p50Ms }) => p50Ms)),
    p99Ms: middle(figures.map(({ p99Ms }) => p99Ms)),
    ratioToPgbench: ratios.includes(null) ? null : Number(middle(ratios).toFixed(2)),
    rounds: figures.map((figure, round) => ({
      perSecond: perSecond(figure),
      ratioToPgbench: ratios[round] === null ? null : Number(ratios[round].toFixed(2)),
    })),
    pgbenchPerSecond,
  };
}

const server = await startBenchServer();
try {
  if (existing > 0) {
    await runClient(server, {
      kind: "fill",
      connections: 2,
      seconds: 3_600,
      requests: existing / writesPerBulk,
      wallets: existing,
    });
  }
  const report = { ...machine, wallets, existing };
  for (const [name, load] of Object.entries(loads)) {
    if (name.includes(values.only)) report[name] = await measure(server, load);
  }
  console.log(JSON.stringify({ ...report, serverResidentMb: server.residentMb() }, null, 2));
} finally {
  await server.stop();
}
