// The order of simulated time: what is due at one moment happens in the order in which it was given.
import { expect, test } from "vitest";
import { Scheduler } from "./world/scheduler.ts";

test("what is kept back until one moment comes in the order in which it was given", async () => {
  const scheduler = new Scheduler();
  const untilMs = 53.1;
  const arrived: number[] = [];
  // The way from these to that one is rounded in different ways.
  const sentAtMs = Array.from({ length: 100 }, (_, index) => 2.79 + index * 0.41);
  for (const [index, atMs] of sentAtMs.entries()) {
    scheduler.at(atMs, () => {
      scheduler.at(untilMs, () => arrived.push(index));
    });
  }
  await scheduler.pass(60);
  expect(arrived).toEqual(sentAtMs.map((_, index) => index));
});
