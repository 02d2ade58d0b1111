// What readers of a journal's stream cost those who write entries: each load is given without readers and with them, in
// alternating slices of one run.
//
//   node scripts/bench/journal-readers.js [--readers 500] [--rates 300,1000,full] [--rounds 4] [--slice 5] [--apart] [--checkout DIR]
//
// A rate is in entries a second over 64 connections, `full` as many as the server takes. Told are the latency of entries, how
// many were recorded, and the CPU time that the server used for each. With --apart the readers are on a second server of
// the same database; --checkout names another built checkout to measure. The readers' process has the lowest priority and throws away what it reads; all share the machine.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { importSource, root } from "../import-source.js";
import { startBenchServer, startSecondServer } from "./server.js";
import { median, printRow } from "./table-rows.js";

const { LedgerClient, prepareEntries, prepareLoads } = await importSource(
  'export { prepareLoads } from "./cli/commands/bench/measure.ts";' +
    'export { prepareEntries } from "./cli/commands/bench/entries.ts";' +
    'export { LedgerClient } from "./client/ledger-client.ts";',
);
const { values } = parseArgs({
  options: {
    readers: { type: "string", default: "500" },
    rates: { type: "string", default: "300,1000,full" },
    rounds: { type: "string", default: "4" },
    slice: { type: "string", default: "5" },
    apart: { type: "boolean", default: false },
    checkout: { type: "string", default: root },
  },
});
const sliceMs = Number(values.slice) * 1000;
const warmUpMs = 5_000;
const settleMs = 500;
/** Without readers and with them, so that what grows or slows down meets both alike. */
const order = [0, 1, 1, 0];

const client = fileURLToPath(new URL("stream-readers.js", import.meta.url));

async function openReaders(server) {
  const { url, apiKey, apiSecret, ledgerId } = server;
  const target = `/v1/ledgers/${ledgerId}/journal-entries/stream`;
  const wanted = { url, apiKey, apiSecret, target, count: Number(values.readers) };
  const child = fork(client, [JSON.stringify(wanted)]);
  const answer = () => new Promise((resolve) => child.once("message", resolve));
  await answer();
  return {
    look: () => {
      const seen = answer();
      child.send("look");
      return seen;
    },
    close: async () => {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.disconnect();
      await exited;
    },
  };
}

/** CPU time of a server's process so far, in ms. */
async function cpuMsOf(server) {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return 1000 * Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)[1]);
}

/** A function that runs a slice of a rate and resolves with its figures. */
async function prepareSlice(server, servers) {
  const api = new LedgerClient(server);
  const ledger = await api.getLedger(server.ledgerId);
  const progress = { tell: () => {} };
  const bench = { client: api, ledger, run: `${process.pid}`, progress };
  const { runLoad } = prepareLoads(await prepareEntries(bench, {}), {
    connection: server,
    progress,
  });
  await api.close();
  return async (rate, durationMs) => {
    const before = await Promise.all(servers.map(cpuMsOf));
    const done = await runLoad({ rate, durationMs, connections: 64 });
    await sleep(settleMs);
    const after = await Promise.all(servers.map(cpuMsOf));
    if (done.firstError !== null) throw new Error(done.firstError);
    return {
      perSecond: done.perSecond,
      ...done.latencyMs,
      cpuUs: after.map((ms, index) => ((ms - before[index]) * 1000) / done.acknowledged),
    };
  };
}

async function measure(rate, runSlice, readersServer) {
  const sides = [[], []];
  const read = { bytes: 0, cut: 0, cpuMs: 0 };
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const side of order) {
      const readers = side === 0 ? null : await openReaders(readersServer);
      const start = await readers?.look();
      sides[side].push(await runSlice(rate, sliceMs));
      const end = await readers?.look();
      await readers?.close();
      if (end === undefined) continue;
      read.bytes += end.bytes - start.bytes;
      read.cut += end.cut;
      read.cpuMs += (end.cpu.user + end.cpu.system - start.cpu.user - start.cpu.system) / 1000;
    }
  }
  const names = ["without", `with ${values.readers}`];
  for (const [side, all] of sides.entries()) {
    const of = (figure) => median(all.map(figure));
    const us = all[0].cpuUs.map((_, index) => Math.round(of(({ cpuUs }) => cpuUs[index])));
    printRow([
      `${rate === null ? "as many as can be" : `${rate}/s`}, ${names[side]}`,
      `${Math.round(of(({ perSecond }) => perSecond)).toLocaleString("en")}/s`,
      ...["p50", "p99"].map((name) => `${of((figures) => figures[name]).toFixed(2)} ms`),
      us.map((each) => `${each} µs`).join(" + "),
    ]);
  }
  const seconds = (sides[1].length * sliceMs) / 1000;
  console.log(
    `readers: ${(read.bytes / seconds / 1e6).toFixed(0)} MB/s, ${(read.cpuMs / seconds / 1000).toFixed(2)} cores of their own, ${read.cut} cut`,
  );
}

const first = await startBenchServer(values.checkout);
try {
  const second = values.apart ? await startSecondServer(first) : null;
  try {
    const runSlice = await prepareSlice(first, second === null ? [first] : [first, second]);
    await runSlice(null, warmUpMs);
    printRow(["load, readers", "entries", "p50", "p99", "server's CPU an entry"]);
    printRow(["---", "---", "---", "---", "---"]);
    for (const rate of values.rates.split(",")) {
      await measure(rate === "full" ? null : Number(rate), runSlice, second ?? first);
    }
  } finally {
    await second?.stop();
  }
} finally {
  await first.stop();
}
