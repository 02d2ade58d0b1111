// What the log tells of witnesses: a line when one begins to fail and one when it answers again, not one for each attempt;
// and now and then, which logs one does not take.
import type { LogIdentity } from "../core/log-origin.ts";
import type { SubmissionWitness, WitnessFailure } from "../engine/logs/witness-request.ts";
import type { Log } from "../log.ts";

/** A witness that knows none of thousands of logs is told of once in a while, with one of them. */
const refusalLinesEveryMs = 3_600_000;

export function logWitnesses(log: Log) {
  /** Since when each witness fails, by its name. */
  const failingSinceMs = new Map<string, number>();
  const refusalToldMs = new Map<string, number>();
  return {
    onWitnessFailure: ({ name }: SubmissionWitness, { message }: WitnessFailure) => {
      if (failingSinceMs.has(name)) return;
      failingSinceMs.set(name, performance.now());
      log.warn({ witness: name, cause: message }, "a witness does not cosign; it is tried again");
    },
    onAnswer: ({ name }: SubmissionWitness) => {
      const sinceMs = failingSinceMs.get(name);
      if (sinceMs === undefined) return;
      failingSinceMs.delete(name);
      const seconds = Math.round((performance.now() - sinceMs) / 100) / 10;
      log.warn({ witness: name, seconds }, "a witness answers again");
    },
    onRefusal: (
      { name }: SubmissionWitness,
      { ledgerId, log: kind }: LogIdentity,
      { message }: WitnessFailure,
    ) => {
      const nowMs = performance.now();
      if (nowMs - (refusalToldMs.get(name) ?? -Infinity) < refusalLinesEveryMs) return;
      refusalToldMs.set(name, nowMs);
      log.warn(
        { witness: name, ledgerId, log: kind, cause: message },
        "a witness does not take a log, and perhaps others; does its operator know the log's key (`ledgerctl log key`)?",
      );
    },
  };
}
