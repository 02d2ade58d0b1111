// The last checkpoint of a log that was about to be signed, as it is kept outside of the database, against what the database
// has: a database that was brought back to an earlier moment does not have it.
import type { Checkpoint } from "../../core/checkpoint.ts";
import { parseOrigin, type LogIdentity, type LogKind } from "../../core/log-origin.ts";
import type { Hash } from "../../core/merkle.ts";
import type { Connection } from "../../store/database/connection.ts";
import { findCheckpoint } from "../../store/log-checkpoints.ts";
import { countLogLeaves } from "../../store/logs.ts";
import { rootOfLeaves } from "./log-tree.ts";

/** Where they are kept. */
export interface SignedCheckpoints {
  read(ledgerId: string, log: LogKind): Promise<Checkpoint | null>;
  /** Resolves when it is on disk. */
  write(ledgerId: string, log: LogKind, checkpoint: Checkpoint): Promise<void>;
}

/** The database does not have what was signed. */
export class UnknownCheckpoint extends Error {
  override name = "UnknownCheckpoint";
}

/** Throws UnknownCheckpoint unless the database has the checkpoint that is kept, or none is; of an earlier generation, any. */
export async function requireKeptCheckpoint(
  transaction: Connection,
  identity: LogIdentity,
  signedCheckpoints: SignedCheckpoints,
): Promise<void> {
  const kept = await signedCheckpoints.read(identity.ledgerId, identity.log);
  if (kept === null) return;
  const generation = parseOrigin(kept.origin)?.generation ?? Infinity;
  if (generation < identity.generation) return;
  if (generation === identity.generation) {
    const root = await rootThen(transaction, identity, kept.size);
    if (root?.equals(kept.rootHash) === true) return;
  }
  throw new UnknownCheckpoint(
    `a checkpoint of ${kept.size} leaves was signed as ${kept.origin}, and the database has none like it: ` +
      "it was brought back to an earlier moment, or changed",
  );
}

/** The root that a log had with so many leaves: as it was signed, or else as its leaves have it; null for too many. */
async function rootThen(
  transaction: Connection,
  identity: LogIdentity,
  size: number,
): Promise<Hash | null> {
  const signed = await findCheckpoint(transaction, identity, size);
  if (signed !== null) return signed.rootHash;
  // It was to be signed, and its transaction was never committed.
  const leafCount = await countLogLeaves(transaction, identity.ledgerId, identity.log);
  return size > leafCount ? null : rootOfLeaves(transaction, identity, size);
}
