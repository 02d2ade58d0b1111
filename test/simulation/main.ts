// One process of the simulation: runs histories, one for each seed of a range, until one fails; that one is cut down.
// scripts/simulate.js starts it, and hears of it by messages. Options: --first SEED, --count N, --shrink.
import { parseArgs } from "node:util";
import { makePlan } from "./history/make-plan.ts";
import { runHistory, type HistoryResult } from "./history/run-history.ts";
import { shrink } from "./history/shrink.ts";
import { addHistory, noTotals, type Totals } from "./history/totals.ts";
import { shown } from "./model/violation.ts";
import { installSimulatedTime } from "./world/simulated-time.ts";

/** A history that fails. */
interface Failure {
  readonly seed: number;
  readonly rule: string;
  /** What is wrong, and where it was cut down, the plan and what came of it. */
  readonly lines: readonly string[];
}

export type Message =
  | { readonly kind: "progress"; readonly histories: number }
  | { readonly kind: "end"; readonly totals: Totals; readonly failure: Failure | null };

const realNow = performance.now.bind(performance);
const realSetImmediate = setImmediate;
const progressMs = 1_000;

const { values } = parseArgs({
  options: {
    first: { type: "string", default: "1" },
    count: { type: "string", default: "1" },
    shrink: { type: "boolean", default: false },
  },
});

// Thousands of refusals are made, and nobody reads where.
Error.stackTraceLimit = 0;
installSimulatedTime();
send(await runAll(Number(values.first), Number(values.count)));
process.disconnect();

function send(message: Message): void {
  process.send?.(message);
}

async function runAll(first: number, count: number): Promise<Message> {
  const totals = noTotals();
  let toldMs = realNow();
  for (let seed = first; seed < first + count; seed += 1) {
    const result = await runHistory(makePlan(seed));
    addHistory(totals, result);
    if (result.violations.length > 0) {
      return { kind: "end", totals, failure: await failureOf(seed, result) };
    }
    if (realNow() - toldMs < progressMs) continue;
    toldMs = realNow();
    send({ kind: "progress", histories: totals.histories });
    await new Promise<void>((resolve) => realSetImmediate(resolve));
  }
  return { kind: "end", totals, failure: null };
}

async function failureOf(seed: number, { violations }: HistoryResult): Promise<Failure | null> {
  const [violation] = violations;
  if (violation === undefined) return null;
  const { rule, detail } = violation;
  if (!values.shrink) return { seed, rule, lines: [`wrong: ${rule}: ${detail}`] };
  const smallest = await shrink(makePlan(seed), violation);
  const { clients, violations: left } = await runHistory(smallest);
  const lines = [
    `setup ${shown(smallest.setup)}`,
    ...smallest.steps.map((step) => `step ${shown(step)}`),
    ...smallest.faults.map((fault) => `fault ${shown(fault)}`),
    ...clients.attempts.map(
      (attempt) => `attempt ${shown({ ...attempt, incarnation: undefined })}`,
    ),
    ...left.map((each) => `wrong: ${each.rule}: ${each.detail}`),
  ];
  return { seed, rule, lines };
}
