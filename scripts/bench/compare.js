// Compares the speed of two builds: two servers, each on an embedded database of its own, get the same load in
// alternating slices, so that a machine whose speed changes from minute to minute changes it for both. The load
// generator is this checkout's and talks HTTP alone, so that either build may be an old one. Both have to be built.
//
//   node scripts/bench/compare.js DIR_A DIR_B [--rounds 6] [--slice 3] [--only LOAD]
//
// A round is four slices of so many seconds: A B B A. Shown are the medians of all slices, and of the rounds' ratios
// the median, the least and the greatest: above 1, B is the faster one. `--only` leaves out loads whose names do
// not have that part.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { importSource } from "../import-source.js";
import { median, printRow } from "./table-rows.js";
import { startBenchServer } from "./server.js";

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: "string", default: "6" },
    slice: { type: "string", default: "3" },
    only: { type: "string", default: "" },
  },
  allowPositionals: true,
});
const [checkoutA, checkoutB] = positionals;
if (checkoutA === undefined || checkoutB === undefined) {
  throw new Error("usage: node scripts/bench/compare.js DIR_A DIR_B [--rounds N] [--slice S]");
}
const rounds = Number(values.rounds);
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
      ? await prepareEntries(bench, null)
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

/** Runs the rounds of a load and gives its row of the table. */
async function compare(servers, load) {
  const slices = [];
  for (const server of servers) slices.push(await prepareSlices(server, load));
  const [a, b] = slices.map((slice) => {
    const figures = [];
    return { figures, run: async () => figures.push(await slice(durationMs)) };
  });
  const ratios = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const side of [a, b, b, a]) await side.run();
    const [ofA, ofB] = [a, b].map(({ figures }) => figures.at(-2) + figures.at(-1));
    ratios.push(load.unit === "ms" ? ofA / ofB : ofB / ofA);
  }
  const describe = ({ figures }) =>
    load.unit === "ms"
      ? `${median(figures).toFixed(2)} ms`
      : `${Math.round(median(figures)).toLocaleString("en")}/s`;
  return [
    load.name,
    describe(a),
    describe(b),
    median(ratios).toFixed(3),
    `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
  ];
}

const servers = [];
try {
  for (const checkout of [checkoutA, checkoutB]) {
    servers.push({ checkout, ...(await startBenchServer(checkout)) });
  }
  for (const server of servers) {
    for (const load of loads) await (await prepareSlices(server, load))(warmUpMs / loads.length);
  }
  console.log(`A: ${checkoutA}\nB: ${checkoutB}\n`);
  printRow(["load", "A", "B", "speed B/A", "rounds"]);
  printRow(["---", "---", "---", "---", "---"]);
  for (const load of loads) printRow(await compare(servers, load));
} finally {
  for (const server of servers) await server.stop();
}
