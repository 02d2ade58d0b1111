// The tree of a log: its leaves, and the roots of its parts, from stored subtrees and the leaves of what is smaller.
import { canonicalClose } from "../../core/close.ts";
import type { LogIdentity } from "../../core/log-origin.ts";
import {
  CompactRange,
  hashLeaf,
  perfectSubtreesOf,
  rootOf,
  rootOverSubtrees,
  type Hash,
  type LeafRange,
  type PerfectSubtree,
} from "../../core/merkle.ts";
import type { Connection } from "../../store/database/connection.ts";
import { listEntryLeaves, listLogSubtrees, storedLevelMin } from "../../store/logs.ts";
import { listCloses } from "../../store/period-closes.ts";

const leavesPerPage = 8_192;
const leavesPerStored = 2 ** storedLevelMin;

/** The hashes of a log's leaves in a range, in order. Rejects where some of them are missing. */
export async function readLogLeaves(
  connection: Connection,
  { ledgerId, log }: Pick<LogIdentity, "ledgerId" | "log">,
  { from, to }: LeafRange,
): Promise<readonly Hash[]> {
  const leaves =
    log === "journal"
      ? await listEntryLeaves(connection, ledgerId, { afterSequence: from, upToSequence: to })
      : (await listCloses(connection, ledgerId, { afterNumber: from, limit: to - from })).map(
          (close) => hashLeaf(canonicalClose(close)),
        );
  if (leaves.length === to - from) return leaves;
  throw new Error(`the log ${log} of ledger ${ledgerId} lacks leaves of ${from} to ${to}`);
}

/**
 * The roots over some ranges of a log's leaves, each a subtree of one of its trees. Reads a few stored subtrees for each,
 * and the leaves of those that are too small to be stored: the same few whatever the size of the tree.
 */
export async function readRoots(
  connection: Connection,
  identity: LogIdentity,
  ranges: readonly LeafRange[],
): Promise<readonly Hash[]> {
  const parts = ranges.map(perfectSubtreesOf);
  const all = parts.flat();
  const [stored, small] = await Promise.all([
    readStored(
      connection,
      identity,
      all.filter(({ level }) => level >= storedLevelMin),
    ),
    readSmall(
      connection,
      identity,
      all.filter(({ level }) => level < storedLevelMin),
    ),
  ]);
  const rootOfPart = (part: PerfectSubtree) => {
    const root = (part.level >= storedLevelMin ? stored : small).get(nameOf(part));
    if (root !== undefined) return root;
    throw new Error(`the log ${identity.log} of ledger ${identity.ledgerId} lacks a subtree`);
  };
  return parts.map((subtrees) => rootOverSubtrees(subtrees.map(rootOfPart)));
}

/** The root over a log's first leaves, however many: read in pages, whatever is stored of its tree. */
export async function rootOfLeaves(
  connection: Connection,
  log: Pick<LogIdentity, "ledgerId" | "log">,
  size: number,
): Promise<Hash> {
  const tree = new CompactRange();
  while (tree.size < size) {
    const to = Math.min(size, tree.size + leavesPerPage);
    const leaves = await readLogLeaves(connection, log, { from: tree.size, to });
    for (const leaf of leaves) tree.append(leaf);
  }
  return tree.root();
}

function nameOf({ level, index }: PerfectSubtree): string {
  return `${level}/${index}`;
}

async function readStored(
  connection: Connection,
  identity: LogIdentity,
  wanted: readonly PerfectSubtree[],
): Promise<ReadonlyMap<string, Hash>> {
  if (wanted.length === 0) return new Map();
  const stored = await listLogSubtrees(connection, identity, wanted);
  return new Map(stored.map((subtree) => [nameOf(subtree), subtree.root]));
}

/** Subtrees that are hashed from their leaves: they lie in two stored ones at most, whose leaves are read together. */
async function readSmall(
  connection: Connection,
  identity: LogIdentity,
  wanted: readonly PerfectSubtree[],
): Promise<ReadonlyMap<string, Hash>> {
  const ranges = wanted.map(({ level, index }) => ({
    from: index * 2 ** level,
    to: (index + 1) * 2 ** level,
  }));
  const groups = new Map<number, LeafRange>();
  for (const { from, to } of ranges) {
    const group = Math.floor(from / leavesPerStored);
    const other = groups.get(group) ?? { from, to };
    groups.set(group, { from: Math.min(from, other.from), to: Math.max(to, other.to) });
  }
  const leaves = new Map<number, Hash>();
  await Promise.all(
    [...groups.values()].map(async (range) => {
      const read = await readLogLeaves(connection, identity, range);
      read.forEach((leaf, index) => leaves.set(range.from + index, leaf));
    }),
  );
  return new Map(
    wanted.map((subtree, index) => {
      const { from, to } = ranges[index] ?? { from: 0, to: 0 };
      const own = Array.from({ length: to - from }, (_, leaf) => leaves.get(from + leaf));
      return [nameOf(subtree), rootOf(own.filter((leaf) => leaf !== undefined))];
    }),
  );
}
