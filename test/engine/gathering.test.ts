// When those who were answered are waited for.
import { expect, test } from "vitest";
import { Gathering } from "../../src/engine/gathering.ts";

/** Sixteen batches follow at once, and the next one waits. */
const untilTrial = [...new Array<boolean>(16).fill(false), true];
const againAtOnce = [
  { writes: 1, ms: 3 },
  { writes: 30, ms: 2 },
] as const;
const atAnyTime = [
  { writes: 6, ms: 3 },
  { writes: 6, ms: 3 },
] as const;

function besideOthers(): Gathering {
  const gathering = new Gathering();
  gathering.looked(true);
  return gathering;
}

function waits(gathering: Gathering, batches = 17): boolean[] {
  return Array.from({ length: batches }, () => gathering.isWaitDue());
}

test("a batch in sixteen looks for others, the first one, too", () => {
  const gathering = new Gathering();
  const looks = Array.from({ length: 48 }, () => gathering.isLookDue());
  expect(looks.flatMap((isDue, batch) => (isDue ? [batch] : []))).toEqual([0, 16, 32]);
});

test("nobody is waited for where there are no others", () => {
  const gathering = new Gathering();
  gathering.looked(false);
  expect(waits(gathering, 40)).not.toContain(true);
});

test("beside others it is tried once in a while whether waiting pays", () => {
  expect(waits(besideOthers())).toEqual(untilTrial);
});

test("those who write again at once are waited for each time", () => {
  const gathering = besideOthers();
  waits(gathering);
  for (let batch = 0; batch < 20; batch += 1) {
    gathering.waited(...againAtOnce);
    expect(gathering.isWaitDue()).toBe(true);
  }
});

test("those who write at any time are not waited for until the next trial", () => {
  const gathering = besideOthers();
  waits(gathering);
  gathering.waited(...atAnyTime);
  expect(waits(gathering)).toEqual(untilTrial);
});

test("where nobody came, there is nobody to wait for", () => {
  const gathering = besideOthers();
  waits(gathering);
  gathering.waited({ writes: 0, ms: 3 }, { writes: 0, ms: 4 });
  expect(gathering.isWaitDue()).toBe(false);
});

test("a pause of those who wrote at once does not end it, a change of their ways does", () => {
  const gathering = besideOthers();
  waits(gathering);
  gathering.waited(...againAtOnce);
  gathering.waited({ writes: 0, ms: 3 }, { writes: 0, ms: 4 });
  expect(gathering.isWaitDue()).toBe(true);
  const asked = Array.from({ length: 10 }, () => {
    gathering.waited(...atAnyTime);
    return gathering.isWaitDue();
  });
  expect(asked).toContain(false);
});

test("others may go unseen for some looks; after four they are gone", () => {
  const gathering = besideOthers();
  waits(gathering);
  for (let look = 0; look < 3; look += 1) gathering.looked(false);
  expect(gathering.isWaitDue()).toBe(true);
  gathering.looked(false);
  expect(gathering.isWaitDue()).toBe(false);
  gathering.looked(true);
  expect(gathering.isWaitDue()).toBe(true);
});
