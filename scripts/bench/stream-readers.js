// Readers of a journal's stream that read and throw away what comes, as cheaply as can be: what they cost is not to be taken
// for the server's. Tells over the channel to its parent when all are connected, and, asked, how many bytes came and how
// many readers were cut. Ends when its parent does.
//
//   fork("stream-readers.js", [JSON.stringify({ url, apiKey, apiSecret, target, count })])
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { setPriority } from "node:os";
import { importSource } from "../import-source.js";

const { signRequest } = await importSource('export { signRequest } from "./core/signing.ts";');
const { url, apiKey, apiSecret, target, count } = JSON.parse(process.argv[2]);
const { hostname, port } = new URL(url);
const openedAtOnce = 50;
// They would not run on the server's machine.
setPriority(19);

const seen = { bytes: 0, cut: 0 };

/** Resolves when the upgrade was answered. */
function openReader() {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signed = { timestamp, method: "GET", target, body: "" };
    const head = [
      `GET ${target} HTTP/1.1`,
      "Host: localhost",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
      `Authorization: Bearer ${apiKey}`,
      `X-Timestamp: ${timestamp}`,
      `X-Signature: ${signRequest(apiSecret, signed).toString("hex")}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    socket.once("data", (chunk) => {
      if (chunk.toString("latin1").startsWith("HTTP/1.1 101")) resolve();
      else reject(new Error(chunk.toString()));
    });
    socket.on("data", (chunk) => (seen.bytes += chunk.length));
    socket.on("error", reject);
    socket.on("close", () => (seen.cut += 1));
  });
}

for (let opened = 0; opened < count; opened += openedAtOnce) {
  await Promise.all(Array.from({ length: Math.min(openedAtOnce, count - opened) }, openReader));
}
process.on("message", () => process.send({ ...seen, cpu: process.cpuUsage() }));
process.on("disconnect", () => process.exit());
process.send("connected");
