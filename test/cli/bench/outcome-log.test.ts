// What a benchmark finds where the ledger does not hold what was answered.
import { expect, it } from "vitest";
import { Findings } from "../../../src/cli/commands/bench/findings.ts";
import { OutcomeLog } from "../../../src/cli/commands/bench/outcome-log.ts";

it("names the writes that are lost, doubled, or there although refused", () => {
  const log = new OutcomeLog(2);
  log.record(1, "acknowledged");
  log.record(2, "refused");
  log.record(3, "unknown");
  for (const number of [1, 1, 3, 5]) expect(log.see(number)).toBe(true);
  expect([...log.differences("write")]).toEqual([
    "write 1 is there 2 times",
    "write 2 was acknowledged and is lost",
    "write 3 was refused and is there",
  ]);
});

it("tells that a write was never sent, however great its number", () => {
  const log = new OutcomeLog(1);
  log.record(1, "acknowledged");
  expect([1, 2, 999_999_999_999_999].map((number) => log.see(number))).toEqual([
    true,
    false,
    false,
  ]);
  expect([...log.differences("write")]).toEqual([]);
});

it("counts all findings of a long run and words the first 20", () => {
  const log = new OutcomeLog(1);
  for (let number = 1; number <= 200_000; number += 1) log.record(number, "acknowledged");
  log.see(1);
  log.see(150_000);
  const { ok, findings } = new Findings(log.differences("write")).check("all are there", 200_000);
  expect([ok, findings.length, findings[0]]).toEqual([
    false,
    21,
    "write 2 was acknowledged and is lost",
  ]);
  expect(findings.at(-1)).toBe("and 199978 more");
});
