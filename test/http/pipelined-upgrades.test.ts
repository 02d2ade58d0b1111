// Upgrades that are offered behind requests that are still under way on the same connection.
import { connect } from "node:net";
import { expect, test } from "vitest";
import { signedRequestBytes } from "../support/signed-request.ts";
import { serveBooks } from "../support/service.ts";
import { streamTarget } from "../support/stream-reader.ts";
import { movement, newKey, walletPath } from "../support/wallets.ts";

const service = serveBooks();
const get = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
const offer = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";

/** Sends packets, each once the one before has all of its answers. */
function converse(...packets: readonly { bytes: string; answers: number }[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.port, "127.0.0.1");
    const rest = [...packets];
    let text = "";
    let answers = 0;
    const send = () => {
      const packet = rest.shift();
      answers += packet?.answers ?? 0;
      if (packet === undefined) socket.destroy();
      else socket.write(packet.bytes);
    };
    const statuses = () =>
      [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status = ""]) => status);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (statuses().length >= answers) send();
    });
    socket.once("error", reject);
    socket.once("close", () => {
      resolve(statuses());
    });
    socket.setTimeout(10_000, () => socket.destroy());
    send();
  });
}

test("upgrades that are left keep the order of answers, and the server", async () => {
  for (const bytes of [get + offer, offer + offer, get + offer + get, offer + get + offer]) {
    const answers = bytes.split("\r\n\r\n").length - 1;
    const packets = [
      { bytes, answers },
      { bytes: get, answers: 1 },
    ];
    expect(await converse(...packets)).toEqual(Array(answers + 1).fill("200"));
  }
});

test("a stream that is asked for behind a write opens when the write has its answer", async () => {
  const { credentials } = service.books;
  const key = newKey(service);
  const body = JSON.stringify(movement(5));
  const write = signedRequestBytes({ credentials, target: walletPath(key, "credit"), body });
  const open = signedRequestBytes({ credentials, target: streamTarget(key) })
    .toString()
    .replace(
      "Host:",
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nHost:",
    );
  expect(await converse({ bytes: `${write.toString()}${open}`, answers: 2 })).toEqual([
    "200",
    "101",
  ]);
});
