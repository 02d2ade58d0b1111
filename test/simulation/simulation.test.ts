// The simulation itself: thousands of histories of the real engine over a simulated database, of which none breaks a rule,
// and bugs that are planted so that some do.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { makePlan } from "./history/make-plan.ts";
import { bugs } from "./planted/bugs.ts";

const script = fileURLToPath(new URL("../../scripts/simulate.js", import.meta.url));
/** Half a minute of the processor, which others may want too. */
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
    "finds every planted bug",
    async () => {
      const { code, output } = await simulate("--planted", "--seeds", "2000");
      for (const { name } of bugs) expect(output).toContain(`${name}: found in`);
      expect(code, output).toBe(0);
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
});
