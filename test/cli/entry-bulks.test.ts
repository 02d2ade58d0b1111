// Bulks of a file's entries: what is there is taken together, and nobody waits for more.
import { setImmediate as immediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { Bulks, type Found } from "../../src/cli/commands/entry/bulks.ts";

const limits = { countMax: 5, bytesMax: 100 };

function found(line: number, description = ""): Found {
  return { line, externalId: `e${line}`, body: { description } };
}

async function* listed(entries: readonly Found[], error?: Error): AsyncGenerator<Found> {
  yield* entries;
  if (error !== undefined) throw error;
}

async function takeAll(bulks: Bulks): Promise<number[][]> {
  const taken: number[][] = [];
  for (;;) {
    const bulk = await bulks.take();
    if (bulk.length === 0) return taken;
    taken.push(bulk.map(({ line }) => line));
  }
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => found(from + index));

test("a fast source's entries come in bulks as large as they may be, in order", async () => {
  const taken = await takeAll(new Bulks(listed(lines(1, 12)), limits));
  expect(taken).toEqual([
    [1, 2, 3, 4, 5],
    [6, 7, 8, 9, 10],
    [11, 12],
  ]);
});

test("a slow source's entries come as they are there: none waits for the next", async () => {
  let release: () => void = () => undefined;
  async function* slow(): AsyncGenerator<Found> {
    yield* lines(1, 2);
    await new Promise<void>((resolve) => (release = resolve));
    yield found(3);
  }
  const bulks = new Bulks(slow(), limits);
  expect(await bulks.take()).toHaveLength(2);
  const third = bulks.take();
  await immediate();
  release();
  expect(await third).toHaveLength(1);
  expect(await bulks.take()).toEqual([]);
  expect(await bulks.take()).toEqual([]);
});

test("what is large makes smaller bulks, and one that is too large makes one by itself", async () => {
  const entries = [
    found(1, "x".repeat(40)),
    found(2, "x".repeat(40)),
    found(3, "x".repeat(500)),
    found(4),
  ];
  expect(await takeAll(new Bulks(listed(entries), limits))).toEqual([[1], [2], [3], [4]]);
});

test("several at once get what follows, each entry once", async () => {
  const bulks = new Bulks(listed(lines(1, 23)), limits);
  const taken = await Promise.all(Array.from({ length: 4 }, () => takeAll(bulks)));
  const all = taken.flat(2).sort((a, b) => a - b);
  expect(all).toEqual(Array.from({ length: 23 }, (_, index) => index + 1));
});

test("what breaks is told behind all that was read before it", async () => {
  const bulks = new Bulks(listed(lines(1, 3), new Error("broken")), limits);
  expect(await bulks.take()).toHaveLength(3);
  await expect(bulks.take()).rejects.toThrow("broken");
});
