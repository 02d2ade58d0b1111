// How fast transfers between wallets are, compared with credits and debits of single wallets: one server gets both loads in
// alternating slices, so that a machine whose speed changes from minute to minute changes it for both.
//
//   node scripts/bench/transfers.js [--rounds 5] [--slice 2]
//
// A transfer is two wallets and two rows of logs, and a write of one wallet is one of each; a ratio of 1 means that a
// transfer costs no more than that. The server has to be built.
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { startBenchServer } from "./server.js";
import { prepareSlices, runInTurn } from "./slices.js";
import { comparison, printRow } from "./table-rows.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    slice: { type: "string", default: "2" },
  },
});
const turns = {
  rounds: Number(values.rounds),
  sliceMs: Number(values.slice) * 1000,
  warmUpMs: 10_000,
};
const loads = [
  { name: "64 connections", connections: 64 },
  { name: "256 connections", connections: 256 },
  { name: "among ten wallets, 64", connections: 64, walletCount: 10 },
  { name: "bulks of 500, 2 connections", connections: 2, bulk: 500 },
  { name: "alone, p50", connections: 1, unit: "ms" },
];

const server = await startBenchServer();
try {
  console.log(`load average before: ${loadavg()[0].toFixed(1)}\n`);
  printRow(["10,000 wallets, unless told", "credits, debits", "transfers", "ratio", "rounds"]);
  printRow(["---", "---", "---", "---", "---"]);
  for (const load of loads) {
    const kinds = ["wallets", "transfers"];
    const sides = [];
    for (const kind of kinds) sides.push(await prepareSlices(server, { ...load, kind }));
    printRow(comparison(load, await runInTurn(sides, load, turns)));
  }
} finally {
  await server.stop();
}
