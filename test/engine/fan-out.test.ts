// Sending to many followers: how often, who gets what, and that others have their turn meanwhile.
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { FanOut } from "../../src/engine/fan-out.ts";

/** Keeps the process busy. */
function spend(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

const listenersOf = (...listeners: ((message: string) => void)[]) =>
  new Map(listeners.map((listener) => [listener, null]));

test("sends together what comes until it is due, and nothing once it is stopped", async () => {
  const sent: [string, number][] = [];
  const startedMs = performance.now();
  const fanOut = new FanOut<string>((feed) => sent.push([feed, performance.now() - startedMs]));
  fanOut.soon("a");
  while (sent.length === 0) await immediate();
  for (const feed of ["a", "b", "a", "b"]) fanOut.soon(feed);
  while (sent.length < 3) await immediate();
  expect(sent.map(([feed]) => feed)).toEqual(["a", "a", "b"]);
  // Since the first was asked for: when it was sent is known only after a pause of the machine, maybe.
  expect(sent[1]?.[1]).toBeGreaterThanOrEqual(18);
  fanOut.soon("c");
  fanOut.stop();
  await sleep(50);
  expect(sent).toHaveLength(3);
});

test("sends less often the longer giving takes, and after half a second at most", async () => {
  for (const [spentMs, dueMs] of [
    [10, 200],
    [60, 500],
  ] as const) {
    const starts: number[] = [];
    const askedMs = performance.now();
    const listeners = listenersOf(() => {
      spend(spentMs);
    });
    const fanOut = new FanOut<string>(() => {
      starts.push(performance.now());
      if (starts.length === 1) void fanOut.give(listeners, "");
    });
    fanOut.soon("");
    while (starts.length === 0) await immediate();
    fanOut.soon("");
    while (starts.length < 2) await immediate();
    const [, second = 0] = starts;
    expect(second - askedMs).toBeGreaterThanOrEqual(dueMs - 10);
  }
});

test("lets others have their turn while it gives", async () => {
  const fanOut = new FanOut<string>(() => undefined);
  const giving = { isOver: false };
  let turns = 0;
  const others = (async () => {
    while (!giving.isOver) {
      turns += 1;
      await immediate();
    }
  })();
  const listeners = listenersOf(
    ...Array.from({ length: 20 }, () => () => {
      spend(1.1);
    }),
  );
  await fanOut.give(listeners, "");
  giving.isOver = true;
  await others;
  expect(turns).toBeGreaterThanOrEqual(20);
});

test("gives a message to those who listened when it began, and still do", async () => {
  const fanOut = new FanOut<string>(() => undefined);
  const got: string[] = [];
  const late = () => got.push("late");
  const left = () => got.push("left");
  const listeners = listenersOf(
    () => {
      spend(2);
      got.push("first");
    },
    left,
    () => got.push("last"),
  );
  const giving = fanOut.give(listeners, "");
  expect(got).toEqual(["first"]);
  listeners.delete(left);
  listeners.set(late, null);
  await giving;
  expect(got).toEqual(["first", "last"]);
});
