// The logs of the database, as the feeds of witnesses need them.
import { formatCheckpoint } from "../../core/checkpoint.ts";
import type { LogIdentity } from "../../core/log-origin.ts";
import { consistencyRanges, type Hash } from "../../core/merkle.ts";
import type { NoteSignature } from "../../core/note.ts";
import type { Timestamp } from "../../core/time.ts";
import type { Pool } from "../../store/database/pool.ts";
import { writeBarrier } from "../../store/ledger-states.ts";
import {
  findCosignedSize,
  findNewestCheckpoint,
  insertCosignature,
  listUncosignedLogs,
} from "../../store/log-checkpoints.ts";
import { findLogState } from "../../store/logs.ts";
import { haltLog } from "./halted-logs.ts";
import { readRoots } from "./log-tree.ts";
import type { FedLogs, NewestCheckpoint } from "./witness-feed.ts";

export class WitnessedLogs implements FedLogs {
  readonly #pool: Pool;

  /** `pool` must let a statement take seconds. */
  constructor(pool: Pool) {
    this.#pool = pool;
  }

  findNewest(identity: LogIdentity, witnessKey: string): Promise<NewestCheckpoint | null> {
    const { ledgerId, log, generation } = identity;
    return this.#pool.transaction(async (transaction) => {
      const [state, newest, cosignedSize] = await Promise.all([
        findLogState(transaction, ledgerId, log),
        findNewestCheckpoint(transaction, identity),
        findCosignedSize(transaction, identity, witnessKey),
      ]);
      const isCurrent = state?.generation === generation && state.haltedAt === null;
      if (!isCurrent || newest === null) return null;
      // A witness that has seen a checkpoint remembers it: it has to be on the standbys (docs/decisions/0010).
      await writeBarrier(transaction, ledgerId);
      const note = `${formatCheckpoint(newest)}\n${newest.signatures}`;
      return { size: newest.size, note, cosignedSize };
    });
  }

  prove(identity: LogIdentity, from: number, to: number): Promise<readonly Hash[]> {
    return readRoots(this.#pool, identity, consistencyRanges(from, to));
  }

  async keepCosignature(
    identity: LogIdentity,
    cosignature: { size: number; witnessKey: string; signature: NoteSignature; time: number },
  ): Promise<void> {
    const { size, witnessKey, signature, time } = cosignature;
    await insertCosignature(this.#pool, identity, {
      size,
      verifierKey: witnessKey,
      signature: signature.signature,
      cosignedAt: new Date(time * 1000).toISOString() as Timestamp,
    });
  }

  halt(identity: LogIdentity, reason: string): Promise<void> {
    return haltLog(this.#pool, identity, reason);
  }

  listUncosigned(witnessKey: string, limit: number): Promise<readonly LogIdentity[]> {
    return listUncosignedLogs(this.#pool, witnessKey, limit);
  }
}
