// Cuts a plan that fails down: without whatever it still fails without.
import type { Violation } from "../model/violation.ts";
import type { Fault, Plan, Step } from "./plan.ts";
import { runHistory } from "./run-history.ts";

/** Plans that are tried at most. */
const triesMax = 2_000;

/** The smallest plan that was found to break the same rule. */
export async function shrink(plan: Plan, { rule }: Violation): Promise<Plan> {
  let tries = 0;
  const stillFails = async (candidate: Plan) => {
    tries += 1;
    const { violations } = await runHistory(candidate);
    return violations.some((violation) => violation.rule === rule);
  };
  let smallest = plan;
  for (let isSmaller = true; isSmaller && tries < triesMax;) {
    isSmaller = false;
    for (const candidate of smallerPlans(smallest)) {
      if (tries >= triesMax) break;
      if (!(await stillFails(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

/** Half of the steps less, a quarter, … one step, one fault; then everything simpler. */
function* smallerPlans(plan: Plan): Iterable<Plan> {
  for (const steps of without<Step>(plan.steps)) yield { ...plan, steps };
  for (const faults of without<Fault>(plan.faults)) yield { ...plan, faults };
  const { setup } = plan;
  const simpler = [
    { ...setup, servers: setup.servers - 1 },
    { ...setup, ledgers: setup.ledgers - 1 },
    { ...setup, hasStandby: false },
    { ...setup, closesInOrder: false },
    { ...setup, pollIntervalMs: null },
    { ...setup, delayMsMax: 0.2 },
  ];
  for (const each of simpler) {
    const isSimpler = JSON.stringify(each) !== JSON.stringify(setup);
    if (isSimpler && each.servers > 0 && each.ledgers > 0) yield { ...plan, setup: each };
  }
}

function* without<Item>(items: readonly Item[]): Iterable<readonly Item[]> {
  for (let size = items.length; size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < items.length; start += size) {
      yield [...items.slice(0, start), ...items.slice(start + size)];
    }
  }
}
