// Loads of `ledgerctl bench` in slices of a few seconds, for comparing servers in turn. The load generator is this
// checkout's and talks HTTP alone, so that a server may be an old build.
import { setTimeout as sleep } from "node:timers/promises";
import { importSource } from "../import-source.js";

const { LedgerClient, prepareEntries, prepareLoads, prepareWallets } = await importSource(
  'export { prepareLoads } from "./cli/commands/bench/measure.ts";' +
    'export { prepareEntries } from "./cli/commands/bench/entries.ts";' +
    'export { prepareWallets } from "./cli/commands/bench/wallets.ts";' +
    'export { LedgerClient } from "./client/ledger-client.ts";',
);

/** Lets a server post what a slice has left before the next one begins. */
const pauseMs = 300;
let prepared = 0;

/**
 * Makes a load's wallets or accounts; gives a function that runs a slice of so many ms and resolves with its figure: a rate, or
 * with `unit: "ms"` the median latency. Throws the first error of a request.
 */
export async function prepareSlices(server, load) {
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
    if (done.firstError !== null) throw new Error(`${load.name}: ${done.firstError}`);
    await sleep(pauseMs);
    if (load.unit === "ms") return done.latencyMs.p50;
    return done.perSecond * (load.bulk ?? 1);
  };
}

/** Runs the slices of two sides in turn, so many rounds, each side first in every other one. For `comparison`. */
export async function runInTurn(sides, { unit }, { rounds, sliceMs, warmUpMs }) {
  for (const runSlice of sides) await runSlice(warmUpMs);
  const figures = [[], []];
  const ratios = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) {
      figures[side].push(await sides[side](sliceMs));
    }
    const [first, second] = figures.map((ofOne) => ofOne[round]);
    ratios.push(unit === "ms" ? first / second : second / first);
  }
  return { figures, ratios };
}
