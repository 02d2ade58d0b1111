// Readers of long answers that do not read: what they may hold, and how long.
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { entriesPath, entry, postEntry } from "../support/entries.ts";
import { signedRequestBytes } from "../support/signed-request.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const pageBytes = 6_500_000;

beforeAll(async () => {
  // Few rows for so many bytes.
  const metadata = { text: "x".repeat(65_000) };
  for (let index = 0; index < 100; index += 1) await postEntry(service, entry(1, { metadata }));
});

const target = () => `${entriesPath(service.books.ledgerId)}?limit=100`;

/** A connection that asks for a long page, or something else, several times and reads nothing. */
function openSleeper(pages: number, asked = target()): Socket {
  const { credentials } = service.books;
  const socket = connect(service.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(
    Buffer.concat(Array<Buffer>(pages).fill(signedRequestBytes({ credentials, target: asked }))),
  );
  return socket;
}

/** The bundle of an empty period in the books of another organization, and the key to it. */
async function bundleOfAnother() {
  const organizationId = await service.books.createOrganization();
  const credentials = await service.books.createKey({ organizationId });
  const ledgerId = await service.books.createLedger({ organizationId });
  const path = `/v1/ledgers/${ledgerId}/period-closes`;
  const body = JSON.stringify({ periodId: "2026-01" });
  const closed = await service.send({ credentials, method: "POST", target: path, body });
  const { closeId } = closed.body as { closeId: string };
  return { credentials, target: `${path}/${closeId}/bundle` };
}

describe("readers that do not read", () => {
  test(
    "hold a bounded part of the server's memory, and leave short answers to others",
    { timeout: 180_000 },
    async () => {
      const sleepers = Array.from({ length: 18 }, () => openSleeper(1));
      await expect
        .poll(
          async () => {
            // Those that came first are cut after 30 s, which a slow machine may need for so many.
            for (let more = 0; more < 2 && sleepers.length < 120; more += 1) {
              sleepers.push(openSleeper(1));
            }
            // Before this one asks, or it would hold the last place itself each time that they come.
            await sleep(200);
            const { text } = await service.get(target());
            return text.includes("too many answers wait for their readers");
          },
          { timeout: 100_000 },
        )
        .toBe(true);
      expect((await service.get(`${entriesPath(service.books.ledgerId)}?limit=0`)).status).toBe(
        400,
      );
      expect((await service.get("/v1/ledgers")).status).toBe(200);
      for (const sleeper of sleepers) sleeper.destroy();
      await expect.poll(async () => (await service.get(target())).status).toBe(200);
    },
  );

  test(
    "hold so much of bundles too, and leave lists and other organizations their own",
    { timeout: 180_000 },
    async () => {
      const closes = `/v1/ledgers/${service.books.ledgerId}/period-closes`;
      const closed = await service.post(closes, { periodId: "to date" });
      const { closeId } = closed.body as { closeId: string };
      const bundle = `${closes}/${closeId}/bundle`;
      const other = await bundleOfAnother();
      const sleepers: Socket[] = [];
      // A few at a time: bundles are read over few connections, and who waits long for one times out.
      await expect
        .poll(
          async () => {
            for (let more = 0; more < 4 && sleepers.length < 80; more += 1) {
              sleepers.push(openSleeper(4, bundle));
            }
            // As above.
            await sleep(500);
            return (await service.get(bundle)).status;
          },
          { timeout: 100_000 },
        )
        .toBe(503);
      const refused = await service.get(bundle);
      expect(refused.text).toContain("too many answers wait for their readers");
      expect(refused.headers["retry-after"]).toMatch(/^[1-3]$/);
      expect((await service.get(target())).status).toBe(200);
      expect((await service.send(other)).text).toContain('{"kind":"trailer"');
      for (const sleeper of sleepers) sleeper.destroy();
      await expect
        .poll(async () => (await service.get(bundle)).text.includes('{"kind":"trailer"'))
        .toBe(true);
    },
  );
});

// Both last longer than an answer may make no progress; so they share that time.
describe.concurrent("a reader", () => {
  test("is cut when it has taken nothing for 30 s", async () => {
    const pages = 4;
    const sleeper = openSleeper(pages);
    await sleep(45_000);
    let bytes = 0;
    sleeper.on("data", (chunk: Buffer) => (bytes += chunk.length));
    await new Promise<void>((resolve) => {
      sleeper.on("close", () => {
        resolve();
      });
      sleeper.resume();
    });
    expect(bytes).toBeLessThan(pages * pageBytes);
  });

  test("that is slow but reads gets all of it", async () => {
    const pages = 4;
    const reader = openSleeper(pages);
    const pauses = 20;
    let bytes = 0;
    // Longer than an answer may make no progress, in pauses that are shorter. Between them it takes so much that the
    // server notices: what the kernel holds for a reader, it can't see.
    let pausesFrom = 0;
    reader.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes >= pausesFrom) reader.pause();
    });
    for (let pause = 1; pause <= pauses; pause += 1) {
      await sleep(2_000);
      pausesFrom = (pages * pageBytes * pause) / pauses;
      reader.resume();
    }
    pausesFrom = Infinity;
    reader.resume();
    await expect.poll(() => bytes).toBeGreaterThan(pages * pageBytes);
    reader.destroy();
  });
});
