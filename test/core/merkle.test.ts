// The Merkle tree against RFC 6962's definition, written as the RFC writes it, and against vectors.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  auditRanges,
  CompactRange,
  emptyRoot,
  hashLeaf,
  rootFromPath,
  rootOf,
} from "../../src/core/merkle.ts";

interface Vectors {
  readonly leafData: readonly string[];
  readonly leaves: readonly string[];
  readonly roots: readonly { size: number; root: string }[];
  readonly decimalLeaves: { readonly roots: readonly { size: number; root: string }[] };
  readonly proofs: readonly {
    readonly name?: string;
    readonly index: number;
    readonly size: number;
    readonly leaf: string;
    readonly path: readonly string[];
    readonly root: string;
    readonly valid: boolean;
  }[];
}

const vectors = JSON.parse(
  readFileSync(new URL("../vectors/merkle.json", import.meta.url), "utf8"),
) as Vectors;

const bytes = (hex: string) => Buffer.from(hex, "hex");
// Texts are compared faster than bytes.
const hexOf = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString("hex"));
const decimalLeaf = (index: number) => hashLeaf(String(index));
const decimalLeaves = (size: number) =>
  Array.from({ length: size }, (_, index) => decimalLeaf(index));

function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function split(size: number): number {
  return 2 ** Math.ceil(Math.log2(size) - 1);
}

/** MTH of section 2.1, over hashes of leaves; roots of parts may be kept, as they never change. */
function naiveRoot(leaves: readonly Buffer[], kept = new Map<string, Buffer>(), from = 0): Buffer {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return only;
  const key = `${from} ${leaves.length}`;
  const k = split(leaves.length);
  const root =
    kept.get(key) ??
    sha256(
      Buffer.of(1),
      naiveRoot(leaves.slice(0, k), kept, from),
      naiveRoot(leaves.slice(k), kept, from + k),
    );
  kept.set(key, root);
  return root;
}

/** PATH of section 2.1.1. */
function naivePath(index: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length <= 1) return [];
  const k = split(leaves.length);
  return index < k
    ? [...naivePath(index, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naivePath(index - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))];
}

function pathOf(index: number, leaves: readonly Buffer[]): Buffer[] {
  return auditRanges(index, leaves.length).map(({ from, to }) => rootOf(leaves.slice(from, to)));
}

describe("vectors", () => {
  test.each(vectors.leafData.map((data, index) => [data, vectors.leaves[index] ?? ""] as const))(
    "the leaf of %j",
    (data, leaf) => {
      expect(hashLeaf(bytes(data)).toString("hex")).toBe(leaf);
    },
  );

  test.each(vectors.roots)("the root of $size leaves", ({ size, root }) => {
    const leaves = vectors.leaves.slice(0, size).map(bytes);
    expect(rootOf(leaves).toString("hex")).toBe(root);
  });

  test.each(vectors.decimalLeaves.roots)("the root of $size decimal leaves", ({ size, root }) => {
    expect(rootOf(decimalLeaves(size)).toString("hex")).toBe(root);
  });

  test.each(vectors.proofs.map((proof) => ({ name: "a proof", ...proof })))(
    "$name: leaf $index of $size is valid: $valid",
    ({ index, size, leaf, path, root, valid }) => {
      const found = rootFromPath(bytes(leaf), index, size, path.map(bytes));
      expect(found?.toString("hex") === root).toBe(valid);
    },
  );
});

test("the root of nothing is the hash of nothing", () => {
  expect(new CompactRange().root()).toEqual(emptyRoot);
  expect(emptyRoot).toEqual(sha256());
});

test("every root up to 2,000 leaves is the one that the recursion gives", () => {
  const range = new CompactRange();
  const leaves: Buffer[] = [];
  const kept = new Map<string, Buffer>();
  for (let size = 1; size <= 2_000; size += 1) {
    const leaf = decimalLeaf(size);
    range.append(leaf);
    leaves.push(leaf);
    expect(range.size).toBe(size);
    expect(range.root().equals(naiveRoot(leaves, kept)), `size ${size}`).toBe(true);
  }
});

test("every audit path up to 40 leaves is the one that the recursion gives, and verifies", () => {
  for (let size = 1; size <= 40; size += 1) {
    const leaves = decimalLeaves(size);
    const root = naiveRoot(leaves);
    leaves.forEach((leaf, index) => {
      const path = pathOf(index, leaves);
      expect(hexOf(path)).toEqual(hexOf(naivePath(index, leaves)));
      expect(rootFromPath(leaf, index, size, path)?.equals(root)).toBe(true);
    });
  }
});

test("every audit path of 1,999 leaves verifies, and none that has any of its bytes changed", () => {
  const size = 1_999;
  const leaves = decimalLeaves(size);
  const root = rootOf(leaves);
  // Roots of the subtrees that paths are made of, each computed once.
  const known = new Map<string, Buffer>();
  const rootOver = ({ from, to }: { from: number; to: number }) => {
    const name = `${from} ${to}`;
    const found = known.get(name) ?? rootOf(leaves.slice(from, to));
    known.set(name, found);
    return found;
  };
  let tried = 0;
  leaves.forEach((leaf, index) => {
    const path = auditRanges(index, size).map(rootOver);
    expect(rootFromPath(leaf, index, size, path)?.equals(root), `leaf ${index}`).toBe(true);
    // Each byte of each hash for some, one byte of each hash for all.
    const bytes = index % 500 === 0 ? Array.from({ length: 32 }, (_, byte) => byte) : [index % 32];
    path.forEach((hash, level) => {
      for (const byte of bytes) {
        const changed = Buffer.from(hash);
        changed[byte] = (changed[byte] ?? 0) ^ 0x10;
        const other = path.with(level, changed);
        tried += rootFromPath(leaf, index, size, other)?.equals(root) === false ? 1 : 0;
      }
    });
    tried -= path.length * bytes.length;
  });
  expect(tried).toBe(0);
});

test("no path with a byte, its leaf, its index or its size changed leads to the root", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 2_000 }).chain((size) =>
        fc.record({
          size: fc.constant(size),
          index: fc.nat(size - 1),
          otherIndex: fc.nat(size + 2),
          hashNumber: fc.nat(),
          byte: fc.nat(31),
          bit: fc.nat(7),
        }),
      ),
      ({ size, index, otherIndex, hashNumber, byte, bit }) => {
        const leaves = decimalLeaves(size);
        const root = rootOf(leaves);
        const path = pathOf(index, leaves);
        const leaf = decimalLeaf(index);
        expect(rootFromPath(leaf, index, size, path)).toEqual(root);
        const chain = [leaf, ...path].map((each) => Buffer.from(each));
        const changed = chain[hashNumber % chain.length];
        if (changed === undefined) throw new Error("there is a hash to change");
        changed[byte] = (changed[byte] ?? 0) ^ (1 << bit);
        const [first = leaf, ...rest] = chain;
        expect(rootFromPath(first, index, size, rest)).not.toEqual(root);
        if (otherIndex !== index) {
          expect(rootFromPath(leaf, otherIndex, size, path)).not.toEqual(root);
        }
        expect(rootFromPath(leaf, index, size, path.slice(1))).not.toEqual(root);
        expect(rootFromPath(leaf, index, size, [...path, root])).not.toEqual(root);
      },
    ),
    { numRuns: 60 },
  );
});

test.each([
  [0, 0],
  [1, 1],
  [-1, 4],
  [1.5, 4],
  [0, Number.NaN],
  [0, Number.POSITIVE_INFINITY],
])("leaf %d of a tree of %d leaves is none", (index, size) => {
  expect(rootFromPath(decimalLeaf(0), index, size, [])).toBeNull();
  expect(() => auditRanges(index, size)).toThrow(RangeError);
});
