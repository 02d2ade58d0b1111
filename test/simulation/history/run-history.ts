// Runs one history from its plan to its end, when nothing goes wrong any more, all has been answered, what was not
// answered has been asked again, and what wallets accepted is posted. Then what was answered is compared with what is there.
import { checkHistory } from "../model/check-history.ts";
import { finalBooks, type FinalBooks } from "../model/final-books.ts";
import { checkStreams } from "../model/streams.ts";
import { Violations, type Violation } from "../model/violation.ts";
import { Clients } from "./clients.ts";
import type { Plan } from "./plan.ts";
import { World } from "./world.ts";

export interface HistoryResult {
  readonly violations: readonly Violation[];
  readonly clients: Clients;
  readonly world: World;
}

/** Longer than anything waits by itself: deadlines, timeouts, sessions that are left alone. */
const patienceMs = 120_000;
const repeatsMax = 3;
/** As long as a request to change a ledger's state holds. */
const requestMs = 10_000;

export async function runHistory(plan: Plan): Promise<HistoryResult> {
  const world = new World(plan);
  const { scheduler } = world;
  const clients = new Clients(world);
  let lastAtMs = 0;
  for (const step of plan.steps) {
    lastAtMs = Math.max(lastAtMs, step.atMs);
    scheduler.after(step.atMs, () => {
      clients.perform(step);
    });
  }
  await scheduler.pass(lastAtMs + 100);
  const violations = await comeToAnEnd(world, clients);
  violations.push(...world.violations.found);
  if (violations.length === 0) violations.push(...checkHistory(world, clients.attempts));
  return { violations, clients, world };
}

/** What never comes to an end is a violation too. */
async function comeToAnEnd(world: World, clients: Clients): Promise<Violation[]> {
  await settle(world, clients);
  world.faults.isOver = true;
  world.cluster.startStandby();
  await settle(world, clients);
  for (let repeat = 0; repeat < repeatsMax && clients.unsettled().length > 0; repeat += 1) {
    for (const attempt of clients.unsettled()) {
      clients.repeat(attempt, world.random.below(world.servers.length));
    }
    await settle(world, clients);
  }
  await settle(world, clients, postRest(world));
  // Whoever was killed while it changed a ledger's state keeps posters away for a while.
  if (!isPosted(finalBooks(world.cluster))) await world.scheduler.pass(requestMs);
  await settle(world, clients, postRest(world));
  await settle(world, clients, () => areStreamsRead(world));
  return [
    ...clients.unanswered().map(({ tag }) => ({ rule: "answered", detail: `${tag} never was` })),
    ...clients
      .unsettled()
      .filter(({ outcome }) => outcome?.kind !== "error")
      .map(({ tag }) => ({ rule: "settled", detail: `${tag} never was, however often asked` })),
  ];
}

/** Posts what wallets accepted. Whether that is done. */
function postRest({ servers }: World): () => boolean {
  let open = servers.length;
  for (const { poster } of servers) {
    void poster.postAll().finally(() => {
      open -= 1;
    });
  }
  return () => open === 0;
}

/** Whether nothing waits in a ledger that is active. */
function isPosted({ batches, states }: FinalBooks): boolean {
  return batches.every(
    ({ journalId, ledgerId }) =>
      journalId !== null ||
      states.some((state) => state.ledgerId === ledgerId && state.status !== "active"),
  );
}

function areStreamsRead({ cluster, readers }: World): boolean {
  if (readers.all.length === 0) return true;
  const violations = new Violations();
  checkStreams(violations, finalBooks(cluster), readers.all);
  return violations.found.length === 0;
}

/** Lets time pass until nothing is under way, or nobody would wait for longer. */
async function settle(
  world: World,
  clients: Clients,
  isDone: () => boolean = () => true,
): Promise<void> {
  const { scheduler } = world;
  const untilMs = scheduler.nowMs + patienceMs;
  const isQuiet = () =>
    isDone() &&
    clients.unanswered().length === 0 &&
    world.cluster.isUp &&
    world.servers.every(({ isDead }) => !isDead);
  let lastLookMs = -Infinity;
  await scheduler.runUntil(() => {
    if (scheduler.nowMs - lastLookMs < 20) return false;
    lastLookMs = scheduler.nowMs;
    return isQuiet() && !world.cluster.isBusy;
  }, untilMs);
}
