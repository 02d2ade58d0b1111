// Real servers on a real PostgreSQL, broken in each of the ways of test/chaos/faults.ts: nothing is lost or doubled.
import { beforeAll, expect, it } from "vitest";
import { faults, possibleFaults } from "../chaos/faults.ts";
import { runRounds } from "../chaos/rounds.ts";
import { mayMountDisks } from "../support/small-disk.ts";
import { mayStepClocks } from "../support/stepped-clock.ts";

const pace = { writers: 4, restMsMax: 150 };
const made = new Set<string>();

beforeAll(async () => {
  for await (const round of runRounds({ count: 20, seed: 755, pace })) {
    made.add(round.fault);
    expect(round.wrong, `${round.fault}; files are kept in ${String(round.kept)}`).toEqual([]);
  }
}, 300_000);

it("loses and doubles nothing in twenty rounds with every fault that can be made here", () => {
  const possible = possibleFaults(faults, { hasStandby: true, hasInstruments: true });
  expect([...made].sort()).toEqual(possible.map(({ name }) => name).sort());
});

it.skipIf(!mayMountDisks)("a full disk is among them", () => {
  expect(made).toContain("disk full");
});

it.skipIf(!mayStepClocks)("stepped clocks are among them", () => {
  expect(made).toContain("server's clock stepped");
  expect(made).toContain("database's clock stepped");
});
