// Compares the speed of two builds: two servers, each on an embedded database of its own, get the same load in
// alternating slices, so that a machine whose speed changes from minute to minute changes it for both. Both have to be built.
//
//   node scripts/bench/compare.js DIR_A DIR_B [--starts 4] [--slice 1.5] [--only LOAD] [--set-a V=X …] [--set-b V=X …]
//
// Two starts of one build differ by up to 8 %, so both are started anew several times. Each start gives a load a round
// of slices of so many seconds. Shown are the medians of all slices, and of the rounds' ratios the median, the least and
// the greatest: above 1, B is the faster one; and what a write or read of each took of the CPU, in µs of the server and of
// PostgreSQL, the work that it leaves behind it included. `--only` leaves out loads whose names do not have that part. `--set-a` and
// `--set-b` set a variable of the environment of one side: so a build is compared with itself under another setting.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { cpuSeconds } from "./cpu-time.js";
import { comparison, median, printRow } from "./table-rows.js";
import { startBenchServer } from "./server.js";
import { prepareSlices, runInTurn } from "./slices.js";

const { values, positionals } = parseArgs({
  options: {
    starts: { type: "string", default: "4" },
    slice: { type: "string", default: "1.5" },
    only: { type: "string", default: "" },
    "set-a": { type: "string", multiple: true, default: [] },
    "set-b": { type: "string", multiple: true, default: [] },
  },
  allowPositionals: true,
});
const [checkoutA, checkoutB] = positionals;
if (checkoutA === undefined || checkoutB === undefined) {
  throw new Error(
    "usage: node scripts/bench/compare.js DIR_A DIR_B [--starts N] [--slice S] [--only LOAD] [--set-a V=X]",
  );
}
const settings = [values["set-a"], values["set-b"]].map((set) =>
  Object.fromEntries(set.map((text) => text.split(/=(.*)/s).slice(0, 2))),
);
const sliceMs = Number(values.slice) * 1000;
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

const results = new Map(
  loads.map((load) => [load, { figures: [[], []], ratios: [], cpu: [[], []] }]),
);
for (let start = 0; start < Number(values.starts); start += 1) {
  // The one that starts first is a little faster.
  const sides = start % 2 === 0 ? [0, 1] : [1, 0];
  const servers = [];
  try {
    for (const side of sides) {
      const checkout = resolve([checkoutA, checkoutB][side]);
      servers[side] = await startBenchServer(checkout, [], settings[side]);
    }
    for (const side of sides) {
      for (const load of loads) {
        const runSlice = await prepareSlices(servers[side], load);
        await runSlice(warmUpMs / loads.length);
      }
    }
    for (const [load, result] of results) {
      const slices = [];
      for (const side of sides) {
        const runSlice = await prepareSlices(servers[side], load);
        slices[side] = withCpuTime(servers[side], load, runSlice, result.cpu[side]);
      }
      const turns = { rounds: 1, sliceMs, warmUpMs: sliceMs, first: sides[0] };
      const { figures, ratios } = await runInTurn(slices, load, turns);
      for (const side of sides) result.figures[side].push(...figures[side]);
      result.ratios.push(...ratios);
    }
  } finally {
    for (const server of servers) await server?.stop();
  }
}

/** A slice that adds to `cpu` what each of its operations took: µs of the server and of the database. */
function withCpuTime(server, { unit }, runSlice, cpu) {
  if (unit === "ms") return runSlice;
  return async (ms) => {
    const before = cpuSeconds(server);
    const perSecond = await runSlice(ms);
    const after = cpuSeconds(server);
    const operations = (perSecond * ms) / 1000;
    const microseconds = (of) => ((after[of] - before[of]) * 1e6) / operations;
    cpu.push({ server: microseconds("server"), database: microseconds("database") });
    return perSecond;
  };
}

/** The medians of both sides, A's before B's. */
function cpuCells([ofA, ofB]) {
  if (ofA.length === 0) return ["", ""];
  return ["server", "database"].map((of) =>
    [ofA, ofB].map((each) => median(each.map((slice) => slice[of])).toFixed(1)).join(" → "),
  );
}

console.log(`A: ${checkoutA}\nB: ${checkoutB}\n`);
printRow(["load", "A", "B", "speed B/A", "rounds", "µs, server", "µs, PostgreSQL"]);
printRow(["---", "---", "---", "---", "---", "---", "---"]);
for (const [load, result] of results) {
  printRow([...comparison(load, result), ...cpuCells(result.cpu)]);
}
