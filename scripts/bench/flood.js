// Measures what one organization notices of another one's key that floods a ledger: the latency of 100 writes a second,
// without the flood and beside it, on a server without and on one with a rate limit.
//
//   node scripts/bench/flood.js [--rounds 5] [--seconds 5] [--limit 200/s] [--connections 64,256]
//
// The machine's speed changes within minutes, so the two servers and their states take turns, and the medians of all
// rounds are shown, with the CPU time that the server used in a second. The flood's own client has the lowest priority: it
// would not run on the server's machine.
import { execFile, execFileSync, spawn } from "node:child_process";
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
const floodClient = join(root, "scripts", "bench", "flood-client.js");
const floods = ["0", ...values.connections.split(",")];
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

/** A credit to one wallet of an organization, signed, as the bytes of its request. Sent again, it is another credit. */
function floodRequest(server, other) {
  const target = `/v1/wallets/${other.ledgerId}:flooded/credit`;
  const body = JSON.stringify({ amount: "1", assetCode: "USD" });
  const sign = [binary, "sign", "POST", target, "--body", "-", "--format", "headers"];
  const headers = execFileSync(process.execPath, sign, {
    env: environmentOf(server, other),
    input: body,
  });
  const head = `POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}`;
  const signed = headers.toString().trim().split("\n").join("\r\n");
  const type = /^content-type:/im.test(signed) ? "" : "Content-Type: application/json\r\n";
  return `${head}\r\n${type}${signed}\r\n\r\n${body}`;
}

/** What a server's metrics say of the CPU time that it has used, in seconds, and of requests to the flooded ledger. */
async function readCounts(server) {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const sum = (name) =>
    [...text.matchAll(new RegExp(`^${name}(?:{.*})? (\\S+)$`, "gm"))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    );
  return {
    cpuSeconds: sum("process_cpu_seconds_total"),
    credits: sum('ledgerctl_http_answers_total{route="creditWallet",status="200"}'),
    rejections: sum('ledgerctl_http_answers_total{route="creditWallet",status="429"}'),
  };
}

/** Latencies of the first organization's writes while the second one floods its ledger over so many connections. */
async function measure({ server, other }, connections) {
  const { port } = new URL(server.url);
  const flood = spawn(process.execPath, [floodClient, port, connections], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  flood.stdin.end(floodRequest(server, other));
  await sleep(warmUpMs);
  const before = await readCounts(server);
  const startMs = performance.now();
  const duration = `${values.seconds}s`;
  const args = [binary, "bench", "wallets", ...victimLoad, "--duration", duration, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: environmentOf(server, server),
  });
  const after = await readCounts(server);
  const seconds = (performance.now() - startMs) / 1000;
  flood.kill("SIGKILL");
  const perSecond = (name) => (after[name] - before[name]) / seconds;
  return {
    ...JSON.parse(stdout).latencyMs,
    cpu: perSecond("cpuSeconds"),
    credits: perSecond("credits"),
    rejections: perSecond("rejections"),
  };
}

const plain = await startBenchServer();
const limited = await startBenchServer(root, ["--rate-limit", values.limit]);
const sides = [
  { name: "no limit", server: plain },
  { name: values.limit, server: limited },
].map((side) => ({ ...side, other: addOrganization(side.server), measured: new Map() }));
try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const connections of floods) {
      for (const side of sides) {
        const figures = await measure(side, connections);
        side.measured.set(connections, [...(side.measured.get(connections) ?? []), figures]);
      }
    }
  }
  console.log(
    "| rate limit | flood | p50 | p99 | CPU | credits a second, the victim's 75 included |",
  );
  console.log("| --- | --- | --- | --- | --- | --- |");
  for (const { name, measured } of sides) {
    for (const [connections, all] of measured) {
      const of = (figure) => median(all.map((figures) => figures[figure]));
      const [p50, p99] = [of("p50").toFixed(1), of("p99").toFixed(1)];
      const counts = `${Math.round(of("credits"))} accepted, ${Math.round(of("rejections"))} rejected`;
      console.log(
        `| ${name} | ${connections} | ${p50} ms | ${p99} ms | ${of("cpu").toFixed(2)} | ${counts} |`,
      );
    }
  }
} finally {
  await Promise.all([plain.stop(), limited.stop()]);
}
