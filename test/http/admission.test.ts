// What a client that is rejected is told to wait.
import { describe, expect, test } from "vitest";
import { RejectionPace, retryAfterSeconds } from "../../src/http/admission.ts";

test("Retry-After is 1, 2 or 3 seconds, at random", () => {
  const values = Array.from({ length: 1_000 }, retryAfterSeconds);
  expect([...new Set(values)].sort()).toEqual(["1", "2", "3"]);
});

describe("rejections by the thousand", () => {
  test("are answered in the order in which they came, some at once and the rest in turns", async () => {
    const pace = new RejectionPace();
    const answered: number[] = [];
    const all = Array.from({ length: 100 }, (_, index) => index);
    for (const index of all) pace.take(() => answered.push(index));
    expect(answered).toEqual(all.slice(0, 20));
    await expect.poll(() => answered.length).toBe(100);
    expect(answered).toEqual(all);
  });

  test("do not hold up one that comes later", async () => {
    const pace = new RejectionPace();
    let answered = 0;
    const take = () => {
      pace.take(() => (answered += 1));
    };
    for (let rejection = 0; rejection < 30; rejection += 1) take();
    await expect.poll(() => answered).toBe(30);
    take();
    expect(answered).toBe(31);
  });
});
