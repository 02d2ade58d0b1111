// The simulation itself: thousands of histories of the real engine over a simulated database, of which none breaks a rule,
// and a bug that is planted so that one does. `.ci/run` plants all of them.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { makePlan } from "./history/make-plan.ts";
import { bugs } from "./planted/bugs.ts";

const root = new URL("../../", import.meta.url);
const script = fileURLToPath(new URL("scripts/simulate.js", root));
/** Some seconds of the processor, which others may want too. */
const patienceMs = 600_000;

function simulate(...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr });
    });
  });
}

describe("the simulation", () => {
  it(
    "finds nothing wrong in 2,000 histories",
    async () => {
      const { code, output } = await simulate("--seeds", "2000");
      expect(output).toContain("2000 histories from seed 1 on, nothing wrong");
      expect(code).toBe(0);
    },
    patienceMs,
  );

  it(
    "replays a seed that fails, cuts it down, and comes to the same each time",
    async () => {
      const bug = ["--bug", "answers before COMMIT"];
      const first = await simulate(...bug, "--seeds", "100");
      expect(first.code).toBe(1);
      const [, seed = ""] = /npm run simulate -- --seed (\d+)/.exec(first.output) ?? [];
      const again = await simulate(...bug, "--seed", seed);
      const plan = /^setup [^]*^wrong: .*$/m;
      const [smallest = ""] = plan.exec(first.output) ?? [];
      const { steps } = makePlan(Number(seed));
      expect(smallest.match(/^step /gm)?.length).toBeLessThan(steps.length / 2);
      expect(plan.exec(again.output)?.[0]).toBe(smallest);
    },
    patienceMs,
  );

  it("plants bugs in texts that the engine has exactly once", () => {
    for (const { name, file, changes } of bugs) {
      const source = readFileSync(new URL(file, root), "utf8");
      for (const [from] of changes) expect(source.split(from).length, `${name}: ${from}`).toBe(2);
    }
  });
});
