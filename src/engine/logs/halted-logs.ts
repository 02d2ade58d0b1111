// Halting a log, and what an operator does then: resume it where nothing else was shown, or begin it anew.
import type { LogIdentity } from "../../core/log-origin.ts";
import type { Connection } from "../../store/database/connection.ts";
import { writeBarrier } from "../../store/ledger-states.ts";
import {
  findLogState,
  insertLogHead,
  lockLogHead,
  readDatabaseIdentity,
  resetLogHead,
  updateLogHalted,
  upsertLogState,
  type LogState,
} from "../../store/logs.ts";

type LogOfLedger = Pick<LogIdentity, "ledgerId" | "log">;

/**
 * Keeps a log from being signed until an operator resumes it or begins it anew; one that was begun anew meanwhile is left
 * alone. The first reason is kept.
 */
export async function haltLog(
  pool: Connection,
  identity: LogIdentity,
  reason: string,
): Promise<void> {
  await changeState(pool, identity, async (transaction, state) => {
    const { ledgerId, log, generation } = identity;
    if (state?.generation === generation) {
      await updateLogHalted(transaction, ledgerId, log, reason);
    } else if (state === null) {
      const database = await readDatabaseIdentity(transaction);
      await upsertLogState(transaction, identity, database, reason);
    }
  });
}

/**
 * Lets a halted log go on from where it is, in this database. False where it is not halted. `refuse` is called under the
 * log's lock, and keeps it halted by throwing.
 */
export async function resumeLog(
  pool: Connection,
  { ledgerId, log }: LogOfLedger,
  refuse: (transaction: Connection, identity: LogIdentity) => Promise<void>,
): Promise<boolean> {
  // `refuse` may show witnesses the newest checkpoint: it has to be on the standbys (docs/decisions/0010).
  await pool.transaction((transaction) => writeBarrier(transaction, ledgerId));
  return changeState(pool, { ledgerId, log }, async (transaction, state) => {
    if (state?.haltedAt == null) return false;
    const identity = { ledgerId, log, generation: state.generation };
    await refuse(transaction, identity);
    await upsertLogState(transaction, identity, await readDatabaseIdentity(transaction), null);
    return true;
  });
}

/** Begins a log anew, under its next origin, which it returns the number of; its tree is built anew. */
export async function restartLog(
  pool: Connection,
  { ledgerId, log }: LogOfLedger,
): Promise<number> {
  return changeState(pool, { ledgerId, log }, async (transaction, state) => {
    const generation = (state?.generation ?? 1) + 1;
    const database = await readDatabaseIdentity(transaction);
    await resetLogHead(transaction, ledgerId, log);
    await upsertLogState(transaction, { ledgerId, log, generation }, database, null);
    return generation;
  });
}

function changeState<Result>(
  pool: Connection,
  { ledgerId, log }: LogOfLedger,
  change: (transaction: Connection, state: LogState | null) => Promise<Result>,
): Promise<Result> {
  return pool.transaction(async (transaction) => {
    await insertLogHead(transaction, ledgerId, log);
    // Behind whoever signs it at the moment.
    await lockLogHead(transaction, ledgerId, log);
    return change(transaction, await findLogState(transaction, ledgerId, log));
  });
}
