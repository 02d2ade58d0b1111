// `npm run simulate`: runs histories, one for each seed, until one fails; that one is cut down and told.
// Options: --seeds N (1000), --seed S (the first, 1), --quiet (nothing but the verdict), --no-shrink.
import { parseArgs } from "node:util";
import { makePlan } from "./history/make-plan.ts";
import { runHistory, type HistoryResult } from "./history/run-history.ts";
import { shrink } from "./history/shrink.ts";
import { shown } from "./model/violation.ts";
import { installSimulatedTime } from "./world/simulated-time.ts";

const realNow = performance.now.bind(performance);
const progressMs = 10_000;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    quiet: { type: "boolean", default: false },
    "no-shrink": { type: "boolean", default: false },
  },
});

const first = Number(values.seed ?? 1);
const count = Number(values.seeds ?? (values.seed === undefined ? 1_000 : 1));
const say = (line: string) => {
  if (!values.quiet) process.stdout.write(`${line}\n`);
};

// Thousands of refusals are made, and nobody reads where.
Error.stackTraceLimit = 0;
installSimulatedTime();
process.exitCode = (await runAll()) ? 0 : 1;

async function runAll(): Promise<boolean> {
  const startedMs = realNow();
  let toldMs = startedMs;
  const sums = { attempts: 0, faults: 0, simulatedMs: 0 };
  for (let seed = first; seed < first + count; seed += 1) {
    const result = await runHistory(makePlan(seed));
    sums.attempts += result.attempts;
    sums.faults += result.faults;
    sums.simulatedMs += result.simulatedMs;
    if (result.violations.length > 0) {
      await tell(seed, seed - first + 1, result);
      return false;
    }
    if (realNow() - toldMs < progressMs) continue;
    toldMs = realNow();
    say(`${seed - first + 1} of ${count} histories, all right so far`);
  }
  const seconds = ((realNow() - startedMs) / 1_000).toFixed(1);
  const hours = (sums.simulatedMs / 3_600_000).toFixed(1);
  process.stdout.write(
    `${count} histories from seed ${first} on, nothing wrong: ${sums.attempts} requests, ${sums.faults} faults, ${hours} simulated hours in ${seconds} s\n`,
  );
  return true;
}

async function tell(seed: number, tried: number, { violations }: HistoryResult): Promise<void> {
  const [violation] = violations;
  if (violation === undefined) return;
  process.stdout.write(`seed ${seed} fails, history ${tried} of ${count}: ${violation.rule}\n`);
  if (values.quiet || values["no-shrink"]) {
    say(violation.detail);
    return;
  }
  say("cutting it down …");
  const smallest = await shrink(makePlan(seed), violation);
  const { clients, violations: left } = await runHistory(smallest);
  say(`setup ${shown(smallest.setup)}`);
  for (const step of smallest.steps) say(`step ${shown(step)}`);
  for (const fault of smallest.faults) say(`fault ${shown(fault)}`);
  for (const attempt of clients.attempts)
    say(`attempt ${shown({ ...attempt, incarnation: undefined })}`);
  for (const { rule, detail } of left) say(`wrong: ${rule}: ${detail}`);
  say(`run it again with: npm run simulate -- --seed ${seed}`);
}
