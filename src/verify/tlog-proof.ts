// Checking a proof that a record is in a log: the record's bytes, their path to the root, and who signed the root.
import { hashLeaf, rootFromPath } from "../core/merkle.ts";
import type { Checkpoint } from "../core/checkpoint.ts";
import { parseTlogProof, type TlogProof } from "../core/tlog-proof.ts";
import type { TlogPolicy } from "../core/tlog-policy.ts";
import { UntrustedCheckpoint, verifyCheckpoint, type VerifiedCheckpoint } from "./checkpoint.ts";

export interface VerifiedProof {
  readonly checkpoint: VerifiedCheckpoint;
  /** Of the leaf, from 0. */
  readonly index: number;
  /** The leaf's data, which the file carries as `extra`. */
  readonly data: Buffer;
}

/**
 * Checks a proof whose record is in the file itself. What the record says of itself is not looked at. Throws
 * MalformedNote or UntrustedCheckpoint.
 */
export function verifyTlogProof(text: string, policy: TlogPolicy): VerifiedProof {
  const proof = parseTlogProof(text);
  const checkpoint = verifyCheckpoint(proof.checkpoint, policy);
  return { checkpoint, index: proof.index, data: verifyInclusion(proof, checkpoint) };
}

/**
 * The data of a proof's leaf, where its path leads to the root of this checkpoint, which is the one in the proof. Throws
 * UntrustedCheckpoint.
 */
export function verifyInclusion({ extra, index, path }: TlogProof, checkpoint: Checkpoint): Buffer {
  if (extra === null) throw new UntrustedCheckpoint("the proof does not have its record (extra)");
  const root = rootFromPath(hashLeaf(extra), index, checkpoint.size, path);
  if (root === null) {
    const tree = `a tree of ${checkpoint.size} leaves has no leaf ${index}`;
    throw new UntrustedCheckpoint(`${tree} with ${path.length} hashes above it`);
  }
  if (!root.equals(checkpoint.rootHash)) {
    const leads = `the record at index ${index} leads to the root ${root.toString("hex")}`;
    const signed = `not to the one that was signed, ${checkpoint.rootHash.toString("hex")}`;
    throw new UntrustedCheckpoint(`${leads}, ${signed}`);
  }
  return extra;
}
