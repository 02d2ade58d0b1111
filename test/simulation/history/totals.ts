// What a number of histories held together: how much there was to go wrong.
import { finalBooks } from "../model/final-books.ts";
import type { HistoryResult } from "./run-history.ts";

export interface Totals {
  histories: number;
  servers: number;
  /** Planned requests; with those that were asked again. */
  steps: number;
  requests: number;
  /** Statements that the simulated database carried out, and COMMITs that wrote something. */
  statements: number;
  commits: number;
  /** Entries, rows of wallets' logs and closes that are there at the end. */
  writes: number;
  simulatedMs: number;
  /** Those that came about, by kind. */
  faults: Record<string, number>;
}

export function noTotals(): Totals {
  return {
    histories: 0,
    servers: 0,
    steps: 0,
    requests: 0,
    statements: 0,
    commits: 0,
    writes: 0,
    simulatedMs: 0,
    faults: {},
  };
}

/** Adds a history that has come to its end. */
export function addHistory(totals: Totals, { clients, world }: HistoryResult): void {
  const { entries, writes, closes } = finalBooks(world.cluster);
  const { statement, commitSent } = world.faults.moments;
  totals.histories += 1;
  totals.servers += world.plan.setup.servers;
  totals.steps += world.plan.steps.length;
  totals.requests += clients.attempts.length;
  totals.statements += statement;
  totals.commits += commitSent;
  totals.writes += entries.length + writes.length + closes.length;
  totals.simulatedMs += world.scheduler.nowMs;
  for (const [kind, count] of world.faults.happened) {
    totals.faults[kind] = (totals.faults[kind] ?? 0) + count;
  }
}
