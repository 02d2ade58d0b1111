// When the clients that a batch answers are waited for.
import { expect, test } from "vitest";
import { type Arrivals, Gathering } from "../../src/engine/gathering.ts";

const bytes = 400;
type Wait = readonly [whileRecording: Arrivals, whileWaiting: Arrivals];
const closedLoop: Wait = [
  { writes: 1, ms: 3 },
  { writes: 30, ms: 2 },
];
const openLoop: Wait = [
  { writes: 6, ms: 3 },
  { writes: 6, ms: 3 },
];

function besideOthers(): Gathering {
  const gathering = new Gathering();
  for (let look = 0; look < 10; look += 1) gathering.looked(true);
  return gathering;
}

/** After how many batches one waits. */
function batchesBeforeWait(gathering: Gathering): number {
  let batches = 0;
  while (batches < 1_000 && !gathering.nextBatchWaits(true, bytes)) batches += 1;
  return batches;
}

function waitThrough(gathering: Gathering, ...waits: readonly Wait[]): void {
  for (const wait of waits) {
    expect(gathering.nextBatchWaits(true, bytes)).toBe(true);
    gathering.waited(...wait);
  }
}

test("one batch in sixteen looks for others, the first one, too", () => {
  const gathering = new Gathering();
  const looks = Array.from({ length: 48 }, () => gathering.nextBatchLooks());
  expect(looks.flatMap((does, batch) => (does ? [batch] : []))).toEqual([0, 16, 32]);
});

test("no batch waits where there are no others, or where they are seen once in a while", () => {
  const gathering = new Gathering();
  expect(batchesBeforeWait(gathering)).toBe(1_000);
  for (let look = 0; look < 100; look += 1) {
    gathering.looked(look % 10 === 0);
    expect(gathering.nextBatchWaits(true, bytes)).toBe(false);
  }
});

test("no batch waits where 64 KiB are in the lane", () => {
  const gathering = besideOthers();
  const waits = Array.from({ length: 100 }, () => gathering.nextBatchWaits(true, 64 * 1024));
  expect(waits).not.toContain(true);
});

test("beside others waiting is tried after 32 batches", () => {
  expect(batchesBeforeWait(besideOthers())).toBe(32);
});

test("a closed loop is waited for at each batch", () => {
  const gathering = besideOthers();
  batchesBeforeWait(gathering);
  waitThrough(gathering, ...new Array<Wait>(20).fill(closedLoop));
});

test("an open loop is not waited for until the next trial", () => {
  const gathering = besideOthers();
  batchesBeforeWait(gathering);
  waitThrough(gathering, openLoop, openLoop);
  expect(batchesBeforeWait(gathering)).toBe(32);
});

test("the first wait of a trial is not judged: the batch before it was pipelined", () => {
  const gathering = besideOthers();
  batchesBeforeWait(gathering);
  waitThrough(gathering, openLoop, closedLoop, closedLoop);
});

test("nor is the first one after a batch that could not wait", () => {
  const gathering = besideOthers();
  batchesBeforeWait(gathering);
  waitThrough(gathering, closedLoop, closedLoop);
  expect(gathering.nextBatchWaits(false, bytes)).toBe(false);
  waitThrough(gathering, openLoop, closedLoop, closedLoop);
});

test("where nobody came, there is nobody to wait for", () => {
  const gathering = besideOthers();
  batchesBeforeWait(gathering);
  gathering.waited(...closedLoop);
  gathering.waited({ writes: 0, ms: 3 }, { writes: 0, ms: 4 });
  expect(batchesBeforeWait(gathering)).toBe(32);
});

test("a pause of a closed loop ends no waiting; that it becomes an open one does after a few waits", () => {
  const gathering = besideOthers();
  batchesBeforeWait(gathering);
  waitThrough(gathering, closedLoop, closedLoop, closedLoop);
  gathering.waited({ writes: 0, ms: 3 }, { writes: 0, ms: 4 });
  let waits = 0;
  for (; waits < 20 && gathering.nextBatchWaits(true, bytes); waits += 1)
    gathering.waited(...openLoop);
  expect(waits).toBeGreaterThan(1);
  expect(waits).toBeLessThan(8);
});

test("others who are not seen by some looks are there; after six in a row they are gone", () => {
  const gathering = besideOthers();
  batchesBeforeWait(gathering);
  for (let look = 0; look < 5; look += 1) gathering.looked(false);
  expect(gathering.nextBatchWaits(true, bytes)).toBe(true);
  gathering.looked(false);
  expect(gathering.nextBatchWaits(true, bytes)).toBe(false);
  gathering.looked(true);
  gathering.looked(true);
  expect(gathering.nextBatchWaits(true, bytes)).toBe(true);
});
