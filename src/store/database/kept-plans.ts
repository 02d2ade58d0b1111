// Plans that a connection keeps for its prepared statements (docs/decisions/0009).
import type { QueryText } from "./statement.ts";

/** How long a plan serves at the most. */
const keptMsMax = 1_000;

const discardPlans = { name: "discard_plans", text: "DISCARD PLANS" };
const planEachTime = {
  name: "plan_each_time",
  text: "SET LOCAL plan_cache_mode = force_custom_plan",
};

interface FixedSender {
  sendFixed(query: QueryText): Promise<unknown>;
}

/**
 * The age of one connection's plans. One that was made while a table was small would walk all of it when it has
 * grown too; so none is kept for long, least of all where all is new.
 */
export class KeptPlans {
  #discardedMs = performance.now();
  #keptMs = 1;

  /** Sends what discards them, once they are old. */
  discardOld(connection: FixedSender): void {
    const now = performance.now();
    if (now - this.#discardedMs < this.#keptMs) return;
    this.#discardedMs = now;
    this.#keptMs = Math.min(2 * this.#keptMs, keptMsMax);
    void connection.sendFixed(discardPlans);
  }

  /** Has the statements of the open transaction planned for their values. */
  planEachTime(connection: FixedSender): void {
    void connection.sendFixed(planEachTime);
  }
}
