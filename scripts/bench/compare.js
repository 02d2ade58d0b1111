// Compares the speed of two builds. Several servers of each, each on an embedded database of its own, all run at once and get the
// same load one after another in short slices, so that a machine whose speed changes changes it for all. Both have to be built.
//
//   node scripts/bench/compare.js DIR_A DIR_B [--starts 4] [--rounds 8] [--slice 1.5] [--only LOAD] [--set-a V=X …] [--set-b V=X …]
//
// Two servers of one build differ by up to 8 %, and keep that for as long as they run: so each side has several starts. In a round each
// server has one slice of so many seconds. Shown are the geometric means of all slices; the ratio of both sides (above 1, B is the faster
// one) with its standard error, which comes from how servers of one side differ; and the median of what a write or read took of the CPU
// until 0.3 s after its slice, in µs of the server and of PostgreSQL. `--only` leaves out loads whose names do not have that part.
// `--set-a` and `--set-b` set a variable of the environment of one side: so a build is compared with itself under another setting.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { cpuSeconds } from "./cpu-time.js";
import { formatFigure, median, printRow } from "./table-rows.js";
import { startBenchServer } from "./server.js";
import { prepareSlices } from "./slices.js";

const { values, positionals } = parseArgs({
  options: {
    starts: { type: "string", default: "4" },
    rounds: { type: "string", default: "8" },
    slice: { type: "string", default: "1.5" },
    only: { type: "string", default: "" },
    "set-a": { type: "string", multiple: true, default: [] },
    "set-b": { type: "string", multiple: true, default: [] },
  },
  allowPositionals: true,
});
const [checkoutA, checkoutB] = positionals;
const starts = Number(values.starts);
const rounds = Number(values.rounds);
const sliceMs = Number(values.slice) * 1000;
// Two servers of a side at least: they tell how much those of one build differ.
const areValid = Number.isInteger(starts) && starts >= 2 && Number.isInteger(rounds) && rounds >= 1;
if (checkoutB === undefined || !areValid || !(sliceMs > 0)) {
  throw new Error(
    "usage: node scripts/bench/compare.js DIR_A DIR_B [--starts N≥2] [--rounds N] [--slice S] [--only LOAD] [--set-a V=X] [--set-b V=X]",
  );
}
const settings = [values["set-a"], values["set-b"]].map((set) =>
  Object.fromEntries(set.map((text) => text.split(/=(.*)/s).slice(0, 2))),
);
const warmUpMs = 10_000;

/** A load's figure is a rate, or with `unit: "ms"` the median latency. */
const loads = [
  { name: "random wallets, 64 connections", connections: 64 },
  { name: "random wallets, 256 connections", connections: 256 },
  { name: "hot wallet, 64 connections", connections: 64, walletCount: 1 },
  { name: "lone wallet writer, p50", connections: 1, unit: "ms" },
  { name: "bulks of 500, 2 connections", connections: 2, bulk: 500 },
  { name: "transfers, 64 connections", connections: 64, kind: "transfers" },
  { name: "balance reads, 64 connections", connections: 64, balances: true },
  { name: "entries, 64 connections", connections: 64, kind: "entries" },
  { name: "entries in atomic bulks of 500", connections: 2, kind: "entries", bulk: 500 },
  { name: "lone entry writer, p50", connections: 1, unit: "ms", kind: "entries" },
].filter(({ name }) => name.includes(values.only));
if (loads.length === 0) throw new Error(`--only: no load has "${values.only}" in its name`);

/** In the order A B B A …: those that are started or measured earlier are a little faster. */
const servers = [];
try {
  for (let start = 0; start < starts; start += 1) {
    for (const side of start % 2 === 0 ? [0, 1] : [1, 0]) {
      const checkout = resolve([checkoutA, checkoutB][side]);
      servers.push({ side, ...(await startBenchServer(checkout, [], settings[side])) });
    }
  }
  // A server gets faster while it runs, with any load: all of them have had all loads before the first is measured.
  for (const load of loads) await prepare(load, warmUpMs / loads.length);

  console.log(`A: ${checkoutA}\nB: ${checkoutB}\n`);
  printRow(["load", "A", "B", "speed B/A", "µs, server", "µs, PostgreSQL"]);
  printRow(["---", "---", "---", "---", "---", "---"]);
  for (const load of loads) printRow(row(load, await measure(load, await prepare(load, sliceMs))));
} finally {
  await Promise.allSettled(servers.map((server) => server.stop()));
}

/** What runs a slice of a load on each server, in their order; it has run once, for so many ms. */
async function prepare(load, ms) {
  const slices = [];
  for (const server of servers) {
    const runSlice = await prepareSlices(server, load);
    await runSlice(ms);
    slices.push(runSlice);
  }
  return slices;
}

/** Of each server, in their order, what each round gave: `{ figure, server, database }`, with the µs that an operation took. */
async function measure({ name, unit }, slices) {
  const results = servers.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...servers.keys()];
    for (const index of round % 2 === 0 ? order : order.toReversed()) {
      const before = cpuSeconds(servers[index]);
      const figure = await slices[index](sliceMs);
      const after = cpuSeconds(servers[index]);
      if (!(figure > 0)) throw new Error(`${name}: nothing was answered in a slice`);
      const operations = unit === "ms" ? NaN : (figure * sliceMs) / 1000;
      const microseconds = (of) => ((after[of] - before[of]) * 1e6) / operations;
      const cpu = { server: microseconds("server"), database: microseconds("database") };
      results[index].push({ figure, ...cpu });
    }
  }
  return results;
}

/** Geometric means of both sides, and what the ratio of their speeds is, with its standard error. */
function row(load, results) {
  const ofSides = [0, 1].map((side) => results.filter((_, index) => servers[index].side === side));
  // All servers have the same rounds, so that what a round does to all of them cancels.
  const logs = ofSides.map((side) =>
    side.map((slices) => mean(slices.map(({ figure }) => Math.log(figure)))),
  );
  const difference = (mean(logs[1]) - mean(logs[0])) * (load.unit === "ms" ? -1 : 1);
  const error = Math.sqrt(logs.reduce((sum, side) => sum + variance(side) / side.length, 0));
  const ratio = Math.exp(difference);
  const cpuCell = (part) =>
    load.unit === "ms"
      ? ""
      : ofSides
          .map((side) => median(side.flat().map((slice) => slice[part])).toFixed(1))
          .join(" → ");
  return [
    load.name,
    ...logs.map((side) => formatFigure(load, Math.exp(mean(side)))),
    `${ratio.toFixed(2)} ± ${(ratio * error).toFixed(2)}`,
    cpuCell("server"),
    cpuCell("database"),
  ];
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

/** Of the population that these are a sample of. */
function variance(numbers) {
  const middle = mean(numbers);
  return numbers.reduce((sum, number) => sum + (number - middle) ** 2, 0) / (numbers.length - 1);
}
