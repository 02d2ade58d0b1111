// Proofs that an entry is in a close: an audit path from the stored subtrees and one part of the leaves.
import { leavesPerSubtree, type CloseRecord } from "../core/close.ts";
import { Refusal } from "../core/errors.ts";
import type { StoredEntry } from "../core/journal.ts";
import { auditRanges, rootOf, type Hash, type LeafRange } from "../core/merkle.ts";
import { holds } from "../core/period.ts";
import { readFirstLeaves } from "../store/journal-spans.ts";
import { listSubtrees } from "../store/period-closes.ts";
import type { Connection } from "../store/database/connection.ts";

/** Where an entry is in the tree of a close, and the hashes that lead from its leaf to the root. */
export interface EntryProof {
  readonly leafIndex: number;
  readonly treeSize: number;
  /** From the leaf's neighbour upwards. */
  readonly auditPath: readonly Hash[];
}

/** The proof of an entry. Rejects with `entryNotFound` when the close does not cover it. */
export async function proveEntry(
  pool: Connection,
  close: CloseRecord,
  entry: StoredEntry,
): Promise<EntryProof> {
  const isCovered = entry.sequence <= close.lastSequence && holds(close, entry.transactionDate);
  const subtrees = isCovered ? await listSubtrees(pool, close) : [];
  const part = subtrees.findLastIndex(({ firstSequence }) => firstSequence <= entry.sequence);
  const first = subtrees[part]?.firstSequence;
  const span = { ...close, afterSequence: (first ?? 0) - 1, upToSequence: close.lastSequence };
  const leaves =
    first === undefined ? [] : await readFirstLeaves(pool, close.ledgerId, span, leavesPerSubtree);
  const place = leaves.findIndex(({ sequence }) => sequence === entry.sequence);
  if (place < 0) throw new Refusal("entryNotFound", "the close does not cover this entry");
  const leafIndex = part * leavesPerSubtree + place;
  const rootOver = (range: LeafRange) =>
    isWithinPart(range, part)
      ? rootOf(leaves.slice(range.from % leavesPerSubtree, lastOf(range)).map(({ leaf }) => leaf))
      : rootOf(
          subtrees
            .slice(range.from / leavesPerSubtree, Math.ceil(range.to / leavesPerSubtree))
            .map(({ root }) => root),
        );
  return {
    leafIndex,
    treeSize: close.entryCount,
    auditPath: auditRanges(leafIndex, close.entryCount).map(rootOver),
  };
}

/** Ranges smaller than a part lie within the one that has the leaf; others are made of whole parts. */
function isWithinPart({ from, to }: LeafRange, part: number): boolean {
  return from >= part * leavesPerSubtree && to <= (part + 1) * leavesPerSubtree;
}

function lastOf({ from, to }: LeafRange): number {
  return (from % leavesPerSubtree) + (to - from);
}
