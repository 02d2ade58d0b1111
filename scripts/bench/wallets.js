// Benchmark: signed wallet writes and reads against the embedded database, with server, client and
// database on one machine; beside it pgbench on the same database, for the ratio.
//
//   node scripts/bench/wallets.js [--wallets 10000] [--seconds 15] [--pgbench /path/to/pgbench]
//
// `--wallets 1000000` fills that many first.
import { parseArgs } from "node:util";
import { startBenchServer } from "./bench-server.js";
import { machine, runClient, runPgbench } from "./measure.js";

const { values } = parseArgs({
  options: {
    wallets: { type: "string", default: "10000" },
    seconds: { type: "string", default: "15" },
    pgbench: { type: "string", default: "/usr/lib/postgresql/15/bin/pgbench" },
  },
});
const wallets = Number(values.wallets);
const seconds = Number(values.seconds);
const writesPerBulk = 500;

const server = await startBenchServer();
try {
  const run = (plan) =>
    runClient(server, { seconds, requests: (seconds + 3) * 16_000, wallets, ...plan });
  if (wallets > 10_000) {
    await run({ kind: "fill", connections: 2, seconds: 3_600, requests: wallets / writesPerBulk });
  }
  const before = runPgbench(values.pgbench, server, 10);
  const figures = {
    "random wallets, 64 connections": await run({ kind: "wallets", connections: 64 }),
    "random wallets, 256 connections": await run({ kind: "wallets", connections: 256 }),
    "one hot wallet, 64 connections": await run({ kind: "wallets", wallets: 1, connections: 64 }),
    "a lone writer": await run({ kind: "wallets", connections: 1, seconds: 5 }),
    "bulks of 500, 2 connections": await run({
      kind: "bulk",
      connections: 2,
      seconds: 10,
      requests: 2_000,
    }),
    "balance reads, 64 connections": await run({
      kind: "balances",
      connections: 64,
      seconds: 8,
      requests: 330_000,
    }),
  };
  const after = runPgbench(values.pgbench, server, 10);
  const pgbench = before === null ? null : (before + after) / 2;
  const bulk = figures["bulks of 500, 2 connections"];
  bulk.writesPerSecond = bulk.perSecond * writesPerBulk;
  for (const figure of Object.values(figures)) {
    const perSecond = figure.writesPerSecond ?? figure.perSecond;
    if (pgbench !== null) figure.ratioToPgbench = Number((perSecond / pgbench).toFixed(2));
  }
  const report = {
    ...machine,
    wallets,
    ...figures,
    pgbenchPerSecond: pgbench === null ? null : [before, after],
    serverResidentMb: server.residentMb(),
  };
  console.log(JSON.stringify(report, null, 2));
} finally {
  await server.stop();
}
