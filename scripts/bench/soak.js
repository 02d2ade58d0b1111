// A long run: does the server's memory stay where it is, and is the last page of a long journal as
// near as the first?
//
//   node scripts/bench/soak.js [--seconds 600] [--connections 64]
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { startBenchServer } from "./bench-server.js";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "600" },
    connections: { type: "string", default: "64" },
  },
});

async function get(server, target) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", server.apiSecret)
    .update(`${timestamp}\nGET\n${target}\n`)
    .digest("hex");
  const reply = await fetch(server.url + target, {
    headers: {
      authorization: `Bearer ${server.apiKey}`,
      "x-timestamp": timestamp,
      "x-signature": signature,
    },
  });
  return reply.json();
}

/** The median of some reads of a page of 100, in ms. */
async function pageMs(server, offset) {
  const target = `/v1/ledgers/${server.ledgerId}/journal-entries?limit=100&offset=${offset}`;
  const times = [];
  for (let read = 0; read < 41; read += 1) {
    const startedMs = performance.now();
    const page = await get(server, target);
    times.push(performance.now() - startedMs);
    if (page.entries.length !== 100) throw new Error(`a page of ${page.entries.length} entries`);
  }
  return times.sort((a, b) => a - b)[20];
}

const server = await startBenchServer();
try {
  const plan = {
    host: server.host,
    port: server.port,
    apiKey: server.apiKey,
    apiSecret: server.apiSecret,
    ledgerId: server.ledgerId,
    connections: Number(values.connections),
    seconds: Number(values.seconds),
    warmupSeconds: 3,
    requests: 0,
    kind: "entries",
    accounts: ["1000", "1100", "2000", "3000", "4000", "5000"],
  };
  let isRunning = true;
  const residentMb = [];
  const sampling = (async () => {
    while (isRunning) {
      await sleep(5_000);
      residentMb.push(server.residentMb());
    }
  })();
  const client = await promisify(execFile)(process.execPath, [
    join(here, "load-client.js"),
    JSON.stringify(plan),
  ]);
  isRunning = false;
  await sampling;
  const { total } = await get(server, `/v1/ledgers/${server.ledgerId}/journal-entries?limit=1`);
  const first = await pageMs(server, 0);
  const deep = total > 1_000_100 ? await pageMs(server, 1_000_000) : null;
  console.log(
    JSON.stringify(
      {
        load: JSON.parse(client.stdout),
        entries: total,
        residentMb: {
          afterOneMinute: residentMb[11] ?? null,
          last: residentMb.at(-1),
          max: Math.max(...residentMb),
        },
        pageOf100Ms: { offset0: first, offset1000000: deep },
      },
      null,
      2,
    ),
  );
} finally {
  await server.stop();
}
