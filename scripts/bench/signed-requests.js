// Signed requests as headers and as bytes, and reading the replies off a socket: what the clients of the
// benchmarks share.
import { createHmac } from "node:crypto";
import { makers } from "./bench-plan.js";

/** The headers of a request that is sent now; `credentials` have `apiKey` and `apiSecret`. */
export function signedHeaders({ apiKey, apiSecret }, method, target, body = "") {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", apiSecret)
    .update(`${timestamp}\n${method}\n${target}\n${body}`)
    .digest("hex");
  return {
    authorization: `Bearer ${apiKey}`,
    "x-timestamp": timestamp,
    "x-signature": signature,
  };
}

/** One signed request as the bytes that go over the wire. */
export function requestBytes(server, { method, target, body }) {
  const headers = Object.entries(signedHeaders(server, method, target, body))
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  const head = `${method} ${target} HTTP/1.1\r\nhost: ${server.host}\r\n${headers}`;
  return Buffer.from(
    body === ""
      ? `${head}\r\n`
      : `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** Makes the next request of a plan, each time another one. */
export function requestMaker(plan) {
  const run = Math.random().toString(36).slice(2, 8);
  const make = makers[plan.kind];
  let made = 0;
  return () => {
    made += 1;
    return requestBytes(plan, make(plan, made, run));
  };
}

/** Calls `take` with each whole reply, as latin1 text; there is one request under way at a time. */
export function onReply(socket, take) {
  let reply = "";
  socket.on("data", (chunk) => {
    reply += chunk.latin1Slice();
    const bodyAt = reply.indexOf("\r\n\r\n");
    if (bodyAt < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(reply)?.[1]);
    if (reply.length < bodyAt + 4 + length) return;
    const whole = reply;
    reply = "";
    take(whole);
  });
}

/** Whether a reply's status is 200 or 201. */
export function isAccepted(reply) {
  return reply.startsWith("HTTP/1.1 20");
}
