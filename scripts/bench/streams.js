// Benchmark: when does a message of a wallet's stream come, counted from the reply to its write? One
// process writes and reads, so that one clock tells; a paced writer credits random wallets, each of which
// has a reader. Below zero, the message came first.
//
//   node scripts/bench/streams.js [--seconds 20] [--rate 100] [--wallets 50] [--connections 64]
//
// First with the readers on the writer's server, then under the load of as many connections as that, then
// with the readers on a second server that has the same database.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import { startBenchServer, startSecondServer } from "./server.js";
import { machine, percentilesOf, runClient } from "./measure.js";
import { isAccepted, onReply, requestBytes, signedHeaders } from "./signed-requests.js";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "20" },
    rate: { type: "string", default: "100" },
    wallets: { type: "string", default: "50" },
    connections: { type: "string", default: "64" },
  },
});
const seconds = Number(values.seconds);
const intervalMs = 1000 / Number(values.rate);
const wallets = Number(values.wallets);
const warmupSeconds = 3;
/** How long messages are waited for after the last reply. */
const lastMessagesMs = 2_000;

const walletTarget = (server, run, wallet, end) =>
  `/v1/wallets/${server.ledgerId}:${run}-${wallet}/${end}`;

/** Opens a wallet's stream; `hear` gets each balance and when it came. */
function openReader(server, run, wallet, hear) {
  const target = walletTarget(server, run, wallet, "ws");
  const headers = signedHeaders(server, "GET", target);
  const socket = new WebSocket(`ws://${server.host}:${server.port}${target}`, { headers });
  socket.on("message", (data) => {
    const atMs = performance.now();
    hear(JSON.parse(data.toString()).balance, atMs);
  });
  return new Promise((resolve, reject) => {
    socket.once("open", () => {
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** One write after the other on one connection; resolves with when the reply came, and with the balance in it. */
function openWriter(server) {
  const socket = connect({ host: server.host, port: server.port, noDelay: true });
  let waiting = null;
  socket.on("error", (error) => waiting?.reject(error));
  onReply(socket, (reply) => {
    const atMs = performance.now();
    if (!isAccepted(reply)) waiting.reject(new Error(reply));
    const { balance } = JSON.parse(reply.slice(reply.indexOf("\r\n\r\n")));
    waiting.resolve({ balance, atMs, replyMs: atMs - waiting.sentMs });
  });
  return {
    credit: (run, wallet) =>
      new Promise((resolve, reject) => {
        const target = walletTarget(server, run, wallet, "credit");
        const body = JSON.stringify({ amount: "1", assetCode: "USD" });
        const request = requestBytes(server, { method: "POST", target, body });
        waiting = { resolve, reject, sentMs: performance.now() };
        socket.write(request);
      }),
    end: () => {
      socket.destroy();
    },
  };
}

/** Writes to one server while the readers are on another one, or on the same. */
async function measure(run, writing, reading) {
  const heardMs = new Map();
  // A posting tells the latest balance again: the first message with a balance is the write's.
  const hear = (wallet) => (balance, atMs) => {
    const key = `${wallet}/${balance}`;
    if (!heardMs.has(key)) heardMs.set(key, atMs);
  };
  const readers = await Promise.all(
    Array.from({ length: wallets }, (_, wallet) => openReader(reading, run, wallet, hear(wallet))),
  );
  const writer = openWriter(writing);
  const writes = [];
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  // A reply that takes longer than the distance of two writes delays the next one.
  for (let dueMs = startMs; performance.now() < endMs; dueMs += intervalMs) {
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const wallet = Math.floor(Math.random() * wallets);
    writes.push({ wallet, ...(await writer.credit(run, wallet)) });
  }
  await sleep(lastMessagesMs);
  writer.end();
  for (const reader of readers) reader.terminate();
  const heard = writes.flatMap(({ wallet, balance, atMs }) => {
    const messageMs = heardMs.get(`${wallet}/${balance}`);
    return messageMs === undefined ? [] : [messageMs - atMs];
  });
  return {
    writes: writes.length,
    withoutMessage: writes.length - heard.length,
    messageAfterReply: percentilesOf(heard),
    reply: percentilesOf(writes.map(({ replyMs }) => replyMs)),
  };
}

async function measureUnderLoad(server) {
  const loading = runClient(server, {
    kind: "wallets",
    wallets: 10_000,
    connections: Number(values.connections),
    // The load is there until the last write has its reply.
    seconds: seconds + 1,
    warmupSeconds,
    requests: 0,
  });
  await sleep(warmupSeconds * 1000);
  const measured = await measure("loaded", server, server);
  const { perSecond, failed } = await loading;
  return { ...measured, load: { perSecond, failed } };
}

const server = await startBenchServer();
try {
  await measure("warm-up", server, server);
  const report = {
    ...machine,
    "same server": await measure("same", server, server),
    "same server, under load": await measureUnderLoad(server),
  };
  const second = await startSecondServer(server);
  try {
    report["second server"] = await measure("second", server, second);
  } finally {
    await second.stop();
  }
  console.log(JSON.stringify(report, null, 2));
} finally {
  await server.stop();
}
