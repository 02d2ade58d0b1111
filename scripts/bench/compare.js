// Compares the speed of two builds: two servers, each on an embedded database of its own, get the same load in
// alternating slices, so that a machine whose speed changes from minute to minute changes it for both. The load
// generator is this checkout's and talks HTTP alone, so that either build may be an old one. Both have to be built.
//
//   node scripts/bench/compare.js DIR_A DIR_B [--starts 4] [--slice 3] [--only LOAD]
//
// Two starts of one build differ by up to 8 %, so both are started anew several times. Each start gives a load a round
// of four slices of so many seconds: A B B A, or B A A B. Shown are the medians of all slices, and of the rounds' ratios
// the median, the least and the greatest: above 1, B is the faster one. `--only` leaves out loads whose names do not
// have that part.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { importSource } from "../import-source.js";
import { median, printRow } from "./table-rows.js";
import { startBenchServer } from "./server.js";

const { values, positionals } = parseArgs({
  options: {
    starts: { type: "string", default: "4" },
    slice: { type: "string", default: "3" },
    only: { type: "string", default: "" },
  },
  allowPositionals: true,
});
const [checkoutA, checkoutB] = positionals;
if (checkoutA === undefined || checkoutB === undefined) {
  throw new Error(
    "usage: node scripts/bench/compare.js DIR_A DIR_B [--starts N] [--slice S] [--only LOAD]",
  );
}
const durationMs = Number(values.slice) * 1000;
const warmUpMs = 10_000;
/** Lets a server post what a slice has left before the next one begins. */
const pauseMs = 300;

/** A load's figure is a rate, or with `unit: "ms"` the median latency. */
const loads = [
  { name: "random wallets, 64 connections", connections: 64 },
  { name: "random wallets, 256 connections", connections: 256 },
  { name: "hot wallet, 64 connections", connections: 64, walletCount: 1 },
  { name: "lone wallet writer, p50", connections: 1, unit: "ms" },
  { name: "bulks of 500, 2 connections", connections: 2, bulk: 500 },
  { name: "balance reads, 64 connections", connections: 64, balances: true },
  { name: "entries, 64 connections", connections: 64, kind: "entries" },
  { name: "entries in atomic bulks of 500", connections: 2, kind: "entries", bulk: 500 },
  { name: "lone entry writer, p50", connections: 1, unit: "ms", kind: "entries" },
].filter(({ name }) => name.includes(values.only));

// What `ledgerctl bench` loads with.
const { LedgerClient, prepareEntries, prepareLoads, prepareWallets } = await importSource(
  'export { prepareLoads } from "./cli/commands/bench/measure.ts";' +
    'export { prepareEntries } from "./cli/commands/bench/entries.ts";' +
    'export { prepareWallets } from "./cli/commands/bench/wallets.ts";' +
    'export { LedgerClient } from "./client/ledger-client.ts";',
);
let prepared = 0;

/** Makes a load's wallets; gives a function that runs a slice of so many ms and resolves with its figure. */
async function prepareSlices(server, load) {
  const client = new LedgerClient(server);
  const ledger = await client.getLedger(server.ledgerId);
  const progress = { tell: () => {} };
  const bench = { client, ledger, run: `${process.pid}x${(prepared += 1)}`, progress };
  const workload =
    load.kind === "entries"
      ? await prepareEntries(bench, load)
      : await prepareWallets(bench, { walletCount: 10_000, ...load });
  const { runLoad } = prepareLoads(workload, { connection: server, progress });
  await client.close();
  return async (sliceMs) => {
    const done = await runLoad({
      rate: null,
      durationMs: sliceMs,
      connections: load.connections,
    });
    if (done.firstError !== null) throw new Error(`${server.checkout}: ${done.firstError}`);
    await sleep(pauseMs);
    if (load.unit === "ms") return done.latencyMs.p50;
    return done.perSecond * (load.bulk ?? 1);
  };
}

/** Runs a round of a load; `isReversed`: B A A B instead of A B B A. */
async function runRound(servers, load, isReversed, { figures, ratios }) {
  const slices = [];
  for (const server of servers) slices.push(await prepareSlices(server, load));
  const sums = [0, 0];
  for (const side of isReversed ? [1, 0, 0, 1] : [0, 1, 1, 0]) {
    const figure = await slices[side](durationMs);
    figures[side].push(figure);
    sums[side] += figure;
  }
  ratios.push(load.unit === "ms" ? sums[0] / sums[1] : sums[1] / sums[0]);
}

function rowOf({ name, unit }, { figures, ratios }) {
  const describe = (ofOne) =>
    unit === "ms"
      ? `${median(ofOne).toFixed(2)} ms`
      : `${Math.round(median(ofOne)).toLocaleString("en")}/s`;
  return [
    name,
    ...figures.map(describe),
    median(ratios).toFixed(3),
    `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
  ];
}

const results = new Map(loads.map((load) => [load, { figures: [[], []], ratios: [] }]));
for (let start = 0; start < Number(values.starts); start += 1) {
  const isReversed = start % 2 === 1;
  const servers = [];
  try {
    for (const checkout of [checkoutA, checkoutB]) {
      servers.push({ checkout, ...(await startBenchServer(checkout)) });
    }
    for (const server of servers) {
      for (const load of loads) await (await prepareSlices(server, load))(warmUpMs / loads.length);
    }
    for (const [load, result] of results) await runRound(servers, load, isReversed, result);
  } finally {
    for (const server of servers) await server.stop();
  }
}
console.log(`A: ${checkoutA}\nB: ${checkoutB}\n`);
printRow(["load", "A", "B", "speed B/A", "rounds"]);
printRow(["---", "---", "---", "---", "---"]);
for (const [load, result] of results) printRow(rowOf(load, result));
