// How fast writes are over many ledgers of a database that Citus spreads, compared with one PostgreSQL: a server of each gets the
// same load in alternating slices.
//
//   LEDGERCTL_MASTER_KEY=… node scripts/bench/many-ledgers.js URL_ALONE URL_COORDINATOR [--ledgers 100] [--rounds 2] [--slice 3]
//
// Both databases have to be migrated and without organizations, the second one distributed (`ledgerctl migrate --distribute`), with
// the same settings of PostgreSQL. Everything shares the machine with the load generator, so that the ratio of the rates is
// that of the CPU time which all processes take for a request together, where nothing else runs.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { root } from "../import-source.js";
import { startBenchServer } from "./server.js";
import { prepareSlices, runInTurn } from "./slices.js";
import { comparison, printRow } from "./table-rows.js";

const { values, positionals: urls } = parseArgs({
  options: {
    ledgers: { type: "string", default: "100" },
    rounds: { type: "string", default: "2" },
    slice: { type: "string", default: "3" },
  },
  allowPositionals: true,
});
if (urls.length !== 2) {
  throw new Error("usage: node scripts/bench/many-ledgers.js URL_ALONE URL_COORDINATOR");
}
const run = promisify(execFile);
const turns = {
  rounds: Number(values.rounds),
  sliceMs: Number(values.slice) * 1000,
  warmUpMs: 10_000,
};
const loads = [
  { name: "wallet credits and debits", connections: 64, walletCount: 100 },
  { name: "entries of two lines", connections: 64, kind: "entries" },
];

/** Makes ledgers with two accounts in the organization of a server; resolves with their ids. */
async function createLedgers(url, { organizationId, home }) {
  const chart = join(home, "chart.csv");
  writeFileSync(chart, "glAccountCode,name\n1,One\n2,Two\n");
  const words = ["ledger", "create", "--org", organizationId, "--currency", "USD"];
  const place = ["--chart", chart, "--database-url", url, "--quiet"];
  const ids = [];
  for (let number = 1; number <= Number(values.ledgers); number += 1) {
    const { stdout } = await run(join(root, "bin", "ledgerctl.js"), [
      ...words,
      ...place,
      `Ledger ${number}`,
    ]);
    ids.push(stdout.trim());
  }
  return ids;
}

const servers = [];
try {
  for (const url of urls) {
    servers.push(await startBenchServer(root, ["--database-url", url]));
  }
  const ledgers = [];
  for (const [side, url] of urls.entries()) ledgers.push(await createLedgers(url, servers[side]));
  printRow([`${values.ledgers} ledgers, 64 connections`, "alone", "Citus", "ratio", "rounds"]);
  printRow(["---", "---", "---", "---", "---"]);
  for (const load of loads) {
    const sides = [];
    for (const [side, server] of servers.entries()) {
      sides.push(await prepareSlices(server, { ...load, ledgerIds: ledgers[side] }));
    }
    printRow(comparison(load, await runInTurn(sides, load, turns)));
  }
} finally {
  for (const server of servers) await server.stop();
}
