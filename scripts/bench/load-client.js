// A client that costs little: requests are signed and serialized beforehand (or, for runs longer than
// a signature holds, as they are sent: `requests: 0`), then sent over raw sockets, one under way a
// connection. Prints one JSON object with its figures.
import { createHmac } from "node:crypto";
import { connect } from "node:net";
import { makers } from "./bench-plan.js";

const plan = JSON.parse(process.argv[2] ?? "{}");
const { host, port, apiKey, apiSecret, connections, seconds, warmupSeconds } = plan;

const run = Math.random().toString(36).slice(2, 8);
const make = makers[plan.kind];
let made = 0;

/** One signed request as the bytes that go over the wire. */
function makeRequest() {
  made += 1;
  const { method, target, body } = make(plan, made, run);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", apiSecret)
    .update(`${timestamp}\n${method}\n${target}\n${body}`)
    .digest("hex");
  const head =
    `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${apiKey}\r\n` +
    `X-Timestamp: ${timestamp}\r\nX-Signature: ${signature}\r\n`;
  return Buffer.from(
    body === ""
      ? `${head}\r\n`
      : `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const requests = Array.from({ length: plan.requests }, makeRequest);
const requestsMax = plan.requests || Infinity;
const latenciesMs = new Float64Array(plan.requests || (seconds + warmupSeconds) * 20_000);
let next = 0;
let measured = 0;
let failed = 0;
let firstFailure = "";
const startedMs = performance.now();
const measureFromMs = startedMs + warmupSeconds * 1000;
const endMs = measureFromMs + seconds * 1000;
let lastMs = measureFromMs;

function runConnection() {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    let sentMs = 0;
    let reply = "";
    const send = () => {
      const now = performance.now();
      if (now >= endMs || next >= requestsMax) {
        socket.destroy();
        resolve(undefined);
        return;
      }
      sentMs = now;
      socket.write(requests[next] ?? makeRequest());
      if (next < requests.length) requests[next] = undefined;
      next += 1;
    };
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      reply += chunk.latin1Slice();
      const bodyAt = reply.indexOf("\r\n\r\n");
      if (bodyAt < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(reply)?.[1]);
      if (reply.length < bodyAt + 4 + length) return;
      const now = performance.now();
      if (!reply.startsWith("HTTP/1.1 20")) {
        failed += 1;
        firstFailure ||= reply;
      } else if (sentMs >= measureFromMs && now <= endMs) {
        latenciesMs[measured] = now - sentMs;
        measured += 1;
        lastMs = now;
      }
      reply = "";
      send();
    });
  });
}

await Promise.all(Array.from({ length: connections }, runConnection));
const sorted = latenciesMs.subarray(0, measured).sort();
const percentile = (share) => sorted[Math.min(measured - 1, Math.floor(measured * share))] ?? 0;
console.log(
  JSON.stringify({
    perSecond: Math.round(measured / ((lastMs - measureFromMs) / 1000)),
    measured,
    failed,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    maxMs: sorted[measured - 1] ?? 0,
    ranOut: next >= requestsMax,
    ...(firstFailure === "" ? {} : { firstFailure }),
  }),
);
