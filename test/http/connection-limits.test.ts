// More connections than the server takes, and more bytes of bodies than it buffers.
import dns from "node:dns";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { entriesPath, entry } from "../support/entries.ts";
import { signedRequestBytes } from "../support/signed-request.ts";
import { serveBooks, startService } from "../support/service.ts";
import { refusedUpgrade, signedHeaders, streamTarget } from "../support/stream-reader.ts";
import { newKey, refusal } from "../support/wallets.ts";

const bodyBytesMax = 32 * 1024 * 1024;
const service = serveBooks({
  variables: { LEDGERCTL_CONNECTIONS_MAX: "20", LEDGERCTL_BODY_BYTES_MAX: String(bodyBytesMax) },
});

async function open(): Promise<{ socket: Socket; answer: () => string }> {
  const socket = connect(service.port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return { socket, answer: () => answer };
}

const openSeveral = (count: number) => Promise.all(Array.from({ length: count }, open));
const closeAll = (connections: { socket: Socket }[]) => {
  for (const { socket } of connections) socket.destroy();
};
const read = () =>
  signedRequestBytes({ credentials: service.books.credentials, target: "/v1/ledgers" });

describe("a connection beyond the limit", () => {
  test("is told so and closed, health apart, until others have gone", async () => {
    const others = await openSeveral(20);
    // The server has counted them when it has answered the last of them.
    for (const { socket, answer } of others) {
      socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
      await expect.poll(answer).toMatch(/^HTTP\/1\.1 200 /);
    }
    const [refused, healthy] = [await open(), await open()];
    const closed = Promise.all([once(refused.socket, "close"), once(healthy.socket, "close")]);
    refused.socket.write(read());
    healthy.socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    await closed;
    expect(refused.answer()).toMatch(
      /^HTTP\/1\.1 503 [^]*^retry-after: [1-3]\r$[^]*"UNAVAILABLE"/im,
    );
    expect(refused.answer()).toMatch(/^connection: close\r$/im);
    expect(healthy.answer()).toMatch(/^HTTP\/1\.1 200 /);
    const target = streamTarget(newKey(service));
    const headers = signedHeaders(service.books.credentials, target);
    const upgrade = await refusedUpgrade(service, target, headers);
    expect(refusal(upgrade, 503)).toContain("too many connections");
    expect(upgrade.headers["retry-after"]).toMatch(/^[1-3]$/);
    // Those that were there are served as before.
    others[0]?.socket.write(read());
    await expect.poll(() => others[0]?.answer()).toContain('"ledgers"');
    closeAll(others);
    await expect.poll(async () => (await service.get("/v1/ledgers")).status).toBe(200);
  });
});

describe("a host name of several addresses", () => {
  test("is served at the first of them, by the one server that has the limits", async () => {
    const { address: first } = await lookup("localhost");
    const second = "127.0.0.2";
    // What Fastify itself asks for the further addresses of `localhost`.
    vi.spyOn(dns, "lookup").mockImplementation((...given: unknown[]) => {
      const answer = given.at(-1) as (error: null, found: unknown, family?: number) => void;
      const all = [first, second].map((address) => ({ address, family: isIP(address) }));
      if ((given[1] as { all?: boolean }).all === true) answer(null, all);
      else answer(null, given[0] === "localhost" ? first : given[0], isIP(first));
    });
    const named = await startService(service.books, { host: "localhost" });
    vi.restoreAllMocks();
    const isServed = async (host: string) => {
      const socket = connect(named.port, host);
      const isConnected = await once(socket, "connect").then(
        () => true,
        () => false,
      );
      socket.destroy();
      return isConnected;
    };
    expect(await isServed(first)).toBe(true);
    expect(await isServed(second)).toBe(false);
    await named.stop();
  });
});

describe("bodies that do not end", () => {
  test("hold a bounded part of the memory, and small ones still get in", async () => {
    const path = entriesPath(service.books.ledgerId);
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${bodyBytesMax}\r\n\r\n`;
    const half = Buffer.alloc(bodyBytesMax - 1, " ");
    // Eight of the largest bodies may be under way.
    const others = await openSeveral(10);
    for (const { socket } of others) {
      socket.write(head);
      socket.write(half);
    }
    const answers = () =>
      others.map(({ answer }) => answer().slice(9, 12)).filter((status) => status);
    await expect.poll(() => answers().length).toBeGreaterThanOrEqual(2);
    expect(new Set(answers())).toEqual(new Set(["503"]));
    expect((await service.post(path, entry())).status).toBe(201);
    const large = JSON.stringify(entry()) + " ".repeat(bodyBytesMax / 2);
    const post = async () => (await service.post(path, large)).status;
    // As soon as all that was sent has arrived, those who are slow make room for those who are not.
    await expect
      .poll(async () => [await post(), answers().length > 2], { interval: 500 })
      .toEqual([201, true]);
    expect(answers().length).toBeLessThan(10);
    closeAll(others);
    await expect.poll(post, { interval: 500 }).toBe(201);
  });
});
