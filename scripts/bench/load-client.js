// A client that costs little: requests are signed and serialized beforehand (or, for runs longer than
// a signature holds, as they are sent: `requests: 0`), then sent over raw sockets, one under way a
// connection. Prints one JSON object with its figures; `accepted` counts what was sent before and after
// the measured time, too.
import { connect } from "node:net";
import { percentilesOf } from "./measure.js";
import { isAccepted, onReply, requestMaker } from "./signed-requests.js";

const plan = JSON.parse(process.argv[2] ?? "{}");
const { host, port, connections, seconds, warmupSeconds } = plan;

const makeRequest = requestMaker(plan);
const requests = Array.from({ length: plan.requests }, makeRequest);
const requestsMax = plan.requests || Infinity;
const latenciesMs = new Float64Array(plan.requests || (seconds + warmupSeconds) * 20_000);
let next = 0;
let measured = 0;
let accepted = 0;
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
    onReply(socket, (reply) => {
      const now = performance.now();
      if (!isAccepted(reply)) {
        failed += 1;
        firstFailure ||= reply;
      } else {
        accepted += 1;
        if (sentMs >= measureFromMs && now <= endMs) {
          latenciesMs[measured] = now - sentMs;
          measured += 1;
          lastMs = now;
        }
      }
      send();
    });
  });
}

await Promise.all(Array.from({ length: connections }, runConnection));
console.log(
  JSON.stringify({
    perSecond: Math.round(measured / ((lastMs - measureFromMs) / 1000)),
    measured,
    accepted,
    failed,
    ...percentilesOf(latenciesMs.subarray(0, measured)),
    ranOut: next >= requestsMax,
    ...(firstFailure === "" ? {} : { firstFailure }),
  }),
);
