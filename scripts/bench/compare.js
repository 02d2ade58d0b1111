// Compares the speed of two builds: two servers, each on an embedded database of its own, get the same load in
// alternating slices, so that a machine whose speed changes from minute to minute changes it for both. The load
// generator is this checkout's and talks HTTP alone, so that either build may be an old one. Both have to be built.
//
//   node scripts/bench/compare.js DIR_A DIR_B [--rounds 6] [--slice 3] [--only LOAD]
//
// A round is four slices of so many seconds: A B B A. Shown are the medians of all slices, and of each round's ratio
// the median, the least and the greatest: above 1, B is the faster one. `--only` leaves out loads whose names do
// not have that part.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { ownCheckout, startBenchServer } from "./server.js";

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
const sliceMs = Number(values.slice) * 1000;
const warmUpMs = 10_000;
/** Lets a server post what a slice has left before the next one begins. */
const pauseMs = 300;
const walletCount = 10_000;
const writesPerBulk = 500;
const accounts = ["1000", "1100", "2000", "3000", "4000", "5000"];

const random = (count) => Math.floor(Math.random() * count);
const post = (target, body) => ({ method: "POST", target, body: JSON.stringify(body) });
const movement = (id) => ({ amount: "100", assetCode: "USD", externalId: id });

/** Requests by kind, each from the ledger's id and an externalId of its own. */
const makers = {
  wallet: (ledgerId, id) =>
    post(`/v1/wallets/${ledgerId}:user-${random(walletCount)}/credit`, movement(id)),
  hotWallet: (ledgerId, id) => post(`/v1/wallets/${ledgerId}:user-0/credit`, movement(id)),
  bulk: (ledgerId, id) =>
    post(`/v1/ledgers/${ledgerId}/wallet-writes`, {
      writes: Array.from({ length: writesPerBulk }, (_, index) => ({
        callerKey: `user-${random(walletCount)}`,
        type: "credit",
        ...movement(`${id}-${index}`),
      })),
    }),
  balance: (ledgerId) => ({
    method: "GET",
    target: `/v1/wallets/${ledgerId}:user-${random(walletCount)}/balance`,
    body: "",
  }),
  entry: (ledgerId, id) => {
    const first = random(accounts.length);
    const second = (first + 1 + random(accounts.length - 1)) % accounts.length;
    return post(`/v1/ledgers/${ledgerId}/journal-entries`, {
      externalId: id,
      lines: [
        { glAccountCode: accounts[first], functionalAmount: "125" },
        { glAccountCode: accounts[second], functionalAmount: "-125" },
      ],
    });
  },
};

/** A load's figure is a rate, or with `unit: "ms"` the median latency. */
const loads = [
  { name: "random wallets, 64 connections", make: makers.wallet, connections: 64 },
  { name: "random wallets, 256 connections", make: makers.wallet, connections: 256 },
  { name: "hot wallet, 64 connections", make: makers.hotWallet, connections: 64 },
  { name: "lone wallet writer, p50", make: makers.wallet, connections: 1, unit: "ms" },
  { name: "bulks of 500, 2 connections", make: makers.bulk, connections: 2, each: writesPerBulk },
  { name: "balance reads, 64 connections", make: makers.balance, connections: 64 },
  { name: "entries, 64 connections", make: makers.entry, connections: 64 },
  { name: "lone entry writer, p50", make: makers.entry, connections: 1, unit: "ms" },
].filter(({ name }) => name.includes(values.only));

/** The load generator of `ledgerctl bench`, bundled to be run here. */
async function importGenerator() {
  const folder = mkdtempSync(join(ownCheckout, "scripts", ".bench-"));
  try {
    const outfile = join(folder, "generator.mjs");
    await build({
      stdin: {
        contents: ["load", "outcome-log", "signed-requests"]
          .map((file) => `export * from "./${file}.ts";`)
          .join(""),
        resolveDir: join(ownCheckout, "src", "cli", "commands", "bench"),
      },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      packages: "external",
      logLevel: "warning",
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const { Load, OutcomeLog, SignedRequests } = await importGenerator();
let sliceNumber = 0;

/** Runs a load for so long; `expected` requests are signed before it begins. */
async function run(server, { make, connections }, durationMs, expected) {
  sliceNumber += 1;
  const run = `${process.pid}-${sliceNumber}`;
  const requests = new SignedRequests(
    server,
    (number) => make(server.ledgerId, `${run}-${number}`),
    expected,
  );
  const load = new Load({ rate: null, durationMs, connections }, new URL(server.url), {
    requests,
    outcomes: new OutcomeLog(),
  });
  await load.run();
  if (load.firstError !== null) throw new Error(`${server.checkout}: ${load.firstError}`);
  await sleep(pauseMs);
  return load;
}

/** Makes every wallet there is to be read. */
async function fillWallets(server) {
  let wallet = 0;
  const make = (ledgerId, id) => {
    const { target, body } = makers.bulk(ledgerId, id);
    const writes = JSON.parse(body).writes.map((write) => {
      wallet += 1;
      return { ...write, callerKey: `user-${(wallet - 1) % walletCount}` };
    });
    return post(target, { writes });
  };
  while (wallet < walletCount) await run(server, { make, connections: 2 }, 100, 0);
}

const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

/** Runs the rounds of a load and gives its row of the table. */
async function compare(servers, load) {
  const [a, b] = servers;
  const figures = new Map(servers.map((server) => [server, []]));
  let expected = load.connections * 100;
  const slice = async (server) => {
    const { perSecond, latencies } = await run(server, load, sliceMs, expected);
    expected = Math.max(expected, Math.ceil(((perSecond * sliceMs) / 1000) * 1.2));
    const figure =
      load.unit === "ms" ? latencies.percentile(0.5) / 1000 : perSecond * (load.each ?? 1);
    figures.get(server).push(figure);
    return figure;
  };
  const ratios = [];
  for (let round = 0; round < rounds; round += 1) {
    const [a1, b1, b2, a2] = [await slice(a), await slice(b), await slice(b), await slice(a)];
    const ratio = (b1 + b2) / (a1 + a2);
    ratios.push(load.unit === "ms" ? 1 / ratio : ratio);
  }
  const tell = (figure) =>
    load.unit === "ms" ? `${figure.toFixed(2)} ms` : `${Math.round(figure)}/s`;
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  return [
    load.name,
    tell(median(figures.get(a))),
    tell(median(figures.get(b))),
    median(ratios).toFixed(3),
    spread,
  ];
}

const row = (cells) => {
  const [name, ...rest] = cells;
  console.log(`| ${name.padEnd(31)} | ${rest.map((cell) => cell.padStart(12)).join(" | ")} |`);
};

const servers = [];
try {
  for (const checkout of [checkoutA, checkoutB]) {
    servers.push({ checkout, ...(await startBenchServer(checkout)) });
  }
  for (const server of servers) {
    await fillWallets(server);
    for (const load of loads) await run(server, load, warmUpMs / loads.length, 0);
  }
  console.log(`A: ${checkoutA}\nB: ${checkoutB}\n`);
  row(["load", "A", "B", "speed B/A", "rounds"]);
  row(["---", "---", "---", "---", "---"]);
  for (const load of loads) row(await compare(servers, load));
} finally {
  for (const server of servers) await server.stop();
}
