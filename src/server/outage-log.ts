// What the log tells of work that is tried again until it succeeds, such as while the database is away: a line when it
// begins to fail and one when it succeeds again, not one for each attempt.
import { messageOf } from "../core/thrown.ts";
import type { Log } from "../log.ts";
import { isTransient } from "../store/database/errors.ts";
import { databaseTrouble } from "./database-troubles.ts";

/** After so long without a failure the next one is a new outage, also where nobody tells of a success. */
const quietMsMin = 60_000;

/**
 * Listeners for the attempts of some work. `work` names it as the subject of a sentence: "posting wallets". An error
 * that another attempt does not mend is a bug, and each one is logged with its stack. One that somebody has to mend is
 * logged once more, with what to do.
 */
export function logOutages(
  log: Log,
  work: string,
): { onFailure: (error: unknown) => void; onSuccess: () => void } {
  let beganMs: number | null = null;
  let lastFailureMs = -Infinity;
  const told = new Set<string | null>();
  return {
    onFailure: (error) => {
      if (!isTransient(error)) {
        log.error({ err: error }, `${work} failed`);
        return;
      }
      const nowMs = performance.now();
      const isNew = beganMs === null || nowMs - lastFailureMs > quietMsMin;
      lastFailureMs = nowMs;
      if (isNew) {
        beganMs = nowMs;
        told.clear();
      }
      const remedy = databaseTrouble(error)?.remedy ?? null;
      if (told.has(remedy)) return;
      told.add(remedy);
      const line = `${work} fails; it is tried again`;
      if (remedy === null) log.warn({ cause: messageOf(error) }, line);
      else log.error({ cause: messageOf(error), remedy }, line);
    },
    onSuccess: () => {
      if (beganMs === null) return;
      const seconds = Math.round((performance.now() - beganMs) / 100) / 10;
      beganMs = null;
      log.warn({ seconds }, `${work} succeeds again`);
    },
  };
}
