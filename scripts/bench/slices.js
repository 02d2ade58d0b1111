// Loads of `ledgerctl bench` in slices of a few seconds, for comparing servers in turn. The load generator is this
// checkout's and talks HTTP alone, so that a server may be an old build.
import { setTimeout as sleep } from "node:timers/promises";
import { importSource } from "../import-source.js";

const { LedgerClient, prepareLoads, ...workloads } = await importSource(
  'export { prepareLoads } from "./cli/commands/bench/measure.ts";' +
    'export { prepareEntries } from "./cli/commands/bench/entries.ts";' +
    'export { prepareTransfers } from "./cli/commands/bench/transfers.ts";' +
    'export { prepareWallets } from "./cli/commands/bench/wallets.ts";' +
    'export { LedgerClient } from "./client/ledger-client.ts";',
);

/** What makes the requests of a load, by its kind. */
const makers = {
  wallets: workloads.prepareWallets,
  transfers: workloads.prepareTransfers,
  entries: workloads.prepareEntries,
};
/** Lets a server post what a slice has left before the next one begins. */
const pauseMs = 300;
let prepared = 0;

/**
 * Makes a load's wallets or accounts; gives a function that runs a slice of so many ms and resolves with its figure: a rate, or
 * with `unit: "ms"` the median latency. Throws the first error of a request. With several `ledgerIds`, requests go to each
 * ledger in turn.
 */
export async function prepareSlices(server, load) {
  const client = new LedgerClient(server);
  const progress = { tell: () => {} };
  const workloads = [];
  for (const ledgerId of load.ledgerIds ?? [server.ledgerId]) {
    const ledger = await client.getLedger(ledgerId);
    const bench = { client, ledger, run: `${process.pid}x${(prepared += 1)}`, progress };
    const settings = { walletCount: 10_000, ...load };
    workloads.push(await makers[load.kind ?? "wallets"](bench, settings));
  }
  const { runLoad } = prepareLoads(inTurn(workloads), { connection: server, progress });
  await client.close();
  return async (sliceMs) => {
    const done = await runLoad({
      rate: null,
      durationMs: sliceMs,
      connections: load.connections,
    });
    if (done.firstError !== null) throw new Error(`${load.name}: ${done.firstError}`);
    await sleep(pauseMs);
    if (load.unit === "ms") return done.latencyMs.p50;
    return done.perSecond * (load.bulk ?? 1);
  };
}

/** A workload that sends the requests of several in turn. */
function inTurn(workloads) {
  const count = workloads.length;
  const request = (number) => workloads[number % count].request(Math.ceil(number / count));
  return { ...workloads[0], request };
}

/** Servers get faster while they run, less and less: with A B B A alone, a build looked 6 % slower than itself. */
const order = [0, 1, 1, 0, 1, 0, 0, 1];

/**
 * Runs rounds of eight slices of two sides in turn. Gives the figures of each side, and of each round the ratio (above 1, the
 * second side is the faster one). For `comparison`.
 */
export async function runInTurn(sides, { unit }, { rounds, sliceMs, warmUpMs }) {
  for (const runSlice of sides) await runSlice(warmUpMs);
  const figures = [[], []];
  const ratios = [];
  for (let round = 0; round < rounds; round += 1) {
    const sums = [0, 0];
    for (const side of order) {
      const figure = await sides[side](sliceMs);
      figures[side].push(figure);
      sums[side] += figure;
    }
    ratios.push(unit === "ms" ? sums[0] / sums[1] : sums[1] / sums[0]);
  }
  return { figures, ratios };
}
