// Measures what one organization notices of another one's key that floods a ledger: the latency of 100 writes a second,
// without the flood and beside it, on a server without and on one with a rate limit.
//
//   node scripts/bench/flood.js [--rounds 5] [--seconds 5] [--limit 200/s] [--connections 64,256]
//
// The machine's speed changes within minutes, so the two servers and their states take turns, and the medians of all
// rounds are shown. The flood's own client has the lowest priority: it is not what would run on the server's machine.
import { execFile, execFileSync, spawn } from "node:child_process";
import { setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { root } from "../import-source.js";
import { startBenchServer } from "./server.js";
import { median } from "./table-rows.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "5" },
    limit: { type: "string", default: "200/s" },
    connections: { type: "string", default: "64,256" },
  },
});
const binary = join(root, "bin", "ledgerctl.js");
const floods = ["0", ...values.connections.split(",")];
const lowestPriority = 19;
const warmUpMs = 2_000;
const victimLoad = ["--wallets", "10", "--rate", "100", "--connections", "4"];

const environmentOf = (server, { apiKey, apiSecret, ledgerId }) => ({
  ...process.env,
  HOME: server.home,
  LEDGERCTL_URL: server.url,
  LEDGERCTL_API_KEY: apiKey,
  LEDGERCTL_API_SECRET: apiSecret,
  LEDGERCTL_LEDGER: ledgerId,
});

/** A second organization of a server, with a ledger and a key. */
function addOrganization(server) {
  const ledgerctl = (...words) => {
    const args = [binary, ...words, "--data-dir", server.dataDir, "--json"];
    return JSON.parse(execFileSync(process.execPath, args, { env: environmentOf(server, server) }));
  };
  const { id } = ledgerctl("org", "create", "Flooded");
  const ledger = ledgerctl("ledger", "create", "Flooded", "--org", id, "--currency", "USD");
  return { ...ledgerctl("key", "create", "--org", id), ledgerId: ledger.id };
}

/** Latencies of the first organization's writes while the second one floods its ledger over so many connections. */
async function measure({ server, other }, connections) {
  const duration = `${values.seconds}s`;
  const flood =
    connections === "0"
      ? null
      : spawn(
          process.execPath,
          [binary, "bench", "wallets", "--hot", "--connections", connections, "--duration", "10m"],
          { env: environmentOf(server, other), stdio: "ignore" },
        );
  if (flood !== null) {
    setPriority(flood.pid, lowestPriority);
    await sleep(warmUpMs);
  }
  const args = [binary, "bench", "wallets", ...victimLoad, "--duration", duration, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: environmentOf(server, server),
  });
  flood?.kill("SIGKILL");
  return JSON.parse(stdout).latencyMs;
}

const plain = await startBenchServer();
const limited = await startBenchServer(root, ["--rate-limit", values.limit]);
const sides = [
  { name: "no limit", server: plain },
  { name: values.limit, server: limited },
].map((side) => ({ ...side, other: addOrganization(side.server), latencies: new Map() }));
try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const connections of floods) {
      for (const side of sides) {
        const latency = await measure(side, connections);
        side.latencies.set(connections, [...(side.latencies.get(connections) ?? []), latency]);
      }
    }
  }
  console.log("| rate limit | connections that flood | p50 | p99 |\n| --- | --- | --- | --- |");
  for (const { name, latencies } of sides) {
    for (const [connections, all] of latencies) {
      const of = (share) => `${median(all.map((latency) => latency[share])).toFixed(1)} ms`;
      console.log(`| ${name} | ${connections} | ${of("p50")} | ${of("p99")} |`);
    }
  }
} finally {
  await Promise.all([plain.stop(), limited.stop()]);
}
