// What is counted of writes: an outcome each, by kind, and batches as they are told.
import { expect, test } from "vitest";
import { Refusal } from "../../src/core/errors.ts";
import { WriteCounts, writeOutcomes } from "../../src/engine/write-counts.ts";

const counting = () =>
  new WriteCounts<"a" | "b", "a" | "b", string>(
    ["a", "b"],
    (item) => item,
    (reply) => reply === "again",
  );

test("every write has one outcome, by what its caller was told", () => {
  const counts = counting();
  counts.replied("a", "done");
  counts.replied("a", "done");
  counts.replied("a", "again");
  counts.rejected("b", new Refusal("duplicateEntry", "x"));
  counts.rejected("b", new Refusal("accountNotFound", "x"));
  counts.rejected("b", new Refusal("unavailable", "x"));
  counts.rejected("b", new Refusal("outcomeUnknown", "x"));
  counts.rejected("b", new Error("a bug"));
  const told = counts.list().map(({ kind, outcome, count }) => [`${kind} ${outcome}`, count]);
  expect(Object.fromEntries(told)).toEqual({
    "a accepted": 2,
    "a duplicate": 1,
    "a refused": 0,
    "a unavailable": 0,
    "a unknown": 0,
    "a failed": 0,
    "b accepted": 0,
    "b duplicate": 1,
    "b refused": 1,
    "b unavailable": 1,
    "b unknown": 1,
    "b failed": 1,
  });
  expect(told).toHaveLength(2 * writeOutcomes.length);
});

test("batches go to whoever keeps distributions of them, and to nobody before", () => {
  const counts = counting();
  const batches: [number, number][] = [];
  counts.committed(1, 2);
  counts.onBatch = (...batch) => batches.push(batch);
  counts.committed(30, 4.5);
  expect(batches).toEqual([[30, 4.5]]);
});
