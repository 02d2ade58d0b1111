// A client that sends at a steady rate, whatever becomes of the requests before (open loop): requests are
// signed beforehand and sent when they are due, each over a connection that has none under way. One that
// finds no such connection is not sent at all and counts as `notSent`, as of a caller whose own pool is
// used up: were it kept for later, the client would slow down to the server's pace. Latencies count from
// when a request was due, so that what the client itself is late is in them. Prints one JSON object.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { percentilesOf } from "./measure.js";
import { isAccepted, onReply, requestMaker } from "./signed-requests.js";

const plan = JSON.parse(process.argv[2] ?? "{}");
const { host, port, connections, seconds, rate } = plan;

/** Connections that are opened at once: fewer than the server's backlog. */
const openedAtOnce = 200;
/** How long answers are waited for after the last request; the server gives a write up after 5 s. */
const lastAnswersMs = 15_000;
const healthEveryMs = 100;
const tickMs = 1;

const due = Math.round(rate * seconds);
const requests = Array.from({ length: due }, requestMaker(plan));
const free = [];
const accepted = { latenciesMs: [] };
const refused = { latenciesMs: [], withRetryAfter: 0 };
const acceptedEachSecond = Array(Math.ceil(seconds)).fill(0);
let acceptedInTime = 0;
let refusedInTime = 0;
let failed = 0;
let firstFailure = "";
let notSent = 0;
let lost = 0;
let underWay = 0;
let underWayMax = 0;
let startedMs = 0;
const healthMs = [];

function fail(why) {
  failed += 1;
  firstFailure ||= why;
}

/** Notes a reply by what it says; those that come after the last request was due are no part of a rate. */
function note(reply, latencyMs, atMs) {
  const isInTime = atMs < seconds * 1000;
  if (isAccepted(reply)) {
    accepted.latenciesMs.push(latencyMs);
    if (isInTime) {
      acceptedInTime += 1;
      acceptedEachSecond[Math.floor(atMs / 1000)] += 1;
    }
  } else if (reply.startsWith("HTTP/1.1 503") && !reply.includes("OUTCOME_UNKNOWN")) {
    refused.latenciesMs.push(latencyMs);
    if (/\r\nretry-after: \d+\r\n/i.test(reply)) refused.withRetryAfter += 1;
    if (isInTime) refusedInTime += 1;
  } else {
    fail(reply);
  }
}

function openConnection() {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    const connection = { socket, dueMs: null };
    socket.once("connect", () => {
      free.push(connection);
      resolve(undefined);
    });
    socket.on("error", reject);
    socket.on("close", () => {
      if (connection.dueMs === null) return;
      underWay -= 1;
      lost += 1;
      fail("the connection was closed in place of an answer");
    });
    onReply(socket, (reply) => {
      const nowMs = performance.now();
      note(reply, nowMs - connection.dueMs, nowMs - startedMs);
      connection.dueMs = null;
      underWay -= 1;
      free.push(connection);
    });
  });
}

/** Sends a request, if there is a connection for it. */
function send(request, dueMs) {
  let connection = free.pop();
  while (connection?.socket.destroyed) connection = free.pop();
  if (connection === undefined) {
    notSent += 1;
    return;
  }
  connection.dueMs = dueMs;
  underWay += 1;
  underWayMax = Math.max(underWayMax, underWay);
  connection.socket.write(request);
}

for (let opened = 0; opened < connections; opened += openedAtOnce) {
  const count = Math.min(openedAtOnce, connections - opened);
  await Promise.all(Array.from({ length: count }, openConnection));
}
/** Asks for the server's health, which nothing but the server's own business delays, while it is overloaded. */
async function watchHealth() {
  while (performance.now() < startedMs + seconds * 1000) {
    const askedMs = performance.now();
    await (await fetch(`http://${host}:${port}/healthz`)).text();
    healthMs.push(performance.now() - askedMs);
    await sleep(healthEveryMs);
  }
}

const cpuBefore = process.cpuUsage();
startedMs = performance.now();
const watching = watchHealth();
for (let next = 0; next < due; await sleep(tickMs)) {
  for (; next < due && startedMs + (next * 1000) / rate <= performance.now(); next += 1) {
    send(requests[next], startedMs + (next * 1000) / rate);
    requests[next] = undefined;
  }
}
const cpu = process.cpuUsage(cpuBefore);
const ranSeconds = (performance.now() - startedMs) / 1000;
for (const endMs = performance.now() + lastAnswersMs; underWay > 0 && performance.now() < endMs;) {
  await sleep(50);
}
await watching;
console.log(
  JSON.stringify({
    duePerSecond: Math.round(rate),
    sentPerSecond: Math.round((due - notSent) / ranSeconds),
    acceptedPerSecond: Math.round(acceptedInTime / seconds),
    refusedPerSecond: Math.round(refusedInTime / seconds),
    accepted: accepted.latenciesMs.length,
    acceptedLatency: percentilesOf(accepted.latenciesMs),
    refused: refused.latenciesMs.length,
    refusedWithRetryAfter: refused.withRetryAfter,
    refusedLatency: percentilesOf(refused.latenciesMs),
    notSent,
    failed,
    lostConnections: lost,
    unanswered: underWay,
    underWayMax,
    healthLatency: percentilesOf(healthMs),
    acceptedEachSecond,
    clientCores: Number(((cpu.user + cpu.system) / 1e6 / ranSeconds).toFixed(2)),
    ...(firstFailure === "" ? {} : { firstFailure }),
  }),
);
process.exit();
