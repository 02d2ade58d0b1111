// How fast two servers on one database are together, compared with one: each load is given to the first server alone and
// to both, half of its connections each, in alternating slices.
//
//   node scripts/bench/two-servers.js [--rounds 3] [--slice 2] [--only LOAD]
//
// All of them share the machine with the load generator, so a ratio of 1 means that the second server costs nothing; more
// than that is to be had where there are processors to spare. All writes go to one ledger.
import { parseArgs } from "node:util";
import { startBenchServer, startSecondServer } from "./server.js";
import { prepareSlices, runInTurn } from "./slices.js";
import { comparison, printRow } from "./table-rows.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    slice: { type: "string", default: "2" },
    only: { type: "string", default: "" },
  },
});
const turns = {
  rounds: Number(values.rounds),
  sliceMs: Number(values.slice) * 1000,
  warmUpMs: 5_000,
};

const loads = [
  { name: "random wallets, 64 connections", connections: 64 },
  { name: "random wallets, 256 connections", connections: 256 },
  { name: "entries, 64 connections", connections: 64, kind: "entries" },
  { name: "entries, 256 connections", connections: 256, kind: "entries" },
  { name: "bulks of 500, 2 connections", connections: 2, bulk: 500 },
].filter(({ name }) => name.includes(values.only));

/** Slices of a load by the first server alone, and by both. */
async function prepareSides(servers, load) {
  const half = { ...load, connections: load.connections / 2 };
  const alone = await prepareSlices(servers[0], load);
  const halves = [];
  for (const server of servers) halves.push(await prepareSlices(server, half));
  const together = async (durationMs) => {
    const figures = await Promise.all(halves.map((runSlice) => runSlice(durationMs)));
    return figures.reduce((sum, figure) => sum + figure, 0);
  };
  return [alone, together];
}

const first = await startBenchServer();
try {
  const second = await startSecondServer(first);
  try {
    printRow(["load", "one", "two", "two/one", "rounds"]);
    printRow(["---", "---", "---", "---", "---"]);
    for (const load of loads) {
      const sides = await prepareSides([first, second], load);
      printRow(comparison(load, await runInTurn(sides, load, turns)));
    }
  } finally {
    await second.stop();
  }
} finally {
  await first.stop();
}
