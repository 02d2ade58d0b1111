// What counts as growth in a soak.
import { expect, test } from "vitest";
import { flatnessOf } from "./flatness.ts";

test("figures that stay, fall, or grow in the first third only are flat", () => {
  for (const figures of [
    [100, 100, 100],
    [100, 90, 80],
    [10, 60, 100, 101, 99, 105, 103, 110, 108],
  ]) {
    expect(flatnessOf("memory", figures, 0)).toMatchObject({ isFlat: true });
  }
});

test("figures that grow in the last third are not", () => {
  expect(flatnessOf("memory", [100, 100, 130], 20)).toEqual({
    what: "memory",
    before: 100,
    after: 130,
    isFlat: false,
  });
  expect(flatnessOf("memory", [100, 100, 100, 100, 100, 100, 150, 150, 150], 0).isFlat).toBe(false);
});

test("one minute that stands out is no growth, and neither are a few units more", () => {
  expect(flatnessOf("p99", [3, 3, 3, 3, 3, 3, 3, 900, 3], 0).isFlat).toBe(true);
  expect(flatnessOf("p99", [3, 3, 4], 2).isFlat).toBe(true);
});
