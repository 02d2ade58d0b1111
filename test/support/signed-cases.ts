// What both verifiers are asked about checkpoints, tlog-proofs, policies and keys, and what ours says.
import { expect } from "vitest";
import { emptyRoot } from "../../src/core/merkle.ts";
import {
  decodeNote,
  isEd25519Signature,
  MalformedNote,
  parseVerifierKey,
  signatureTypes,
} from "../../src/core/note.ts";
import {
  parseTlogPolicy,
  policyOfKeys,
  requireKeyType,
  type TlogPolicy,
} from "../../src/core/tlog-policy.ts";
import { isTlogProof } from "../../src/core/tlog-proof.ts";
import { UntrustedCheckpoint, verifyCheckpoint, type Signer } from "../../src/verify/checkpoint.ts";
import { readLogRecord } from "../../src/verify/log-record.ts";
import { verifyTlogProof } from "../../src/verify/tlog-proof.ts";
import { logKeyText, witnessKeyText } from "./tlog-cases.ts";

/** What both verifiers can be asked: a checkpoint or a tlog-proof, and who is trusted. */
export interface SignedCase {
  readonly data?: Uint8Array;
  /** A policy file; without it the keys of logs, and of witnesses who must all have cosigned. */
  readonly policy?: Uint8Array;
  readonly verifierKeys?: readonly string[];
  readonly witnessKeys?: readonly string[];
  /** Whether the record of a proof is read as well. */
  readonly withRecord?: boolean;
  /** Of `data`, and nothing but this. */
  readonly signature?: Uint8Array;
  readonly publicKey?: Uint8Array;
  /** The log that has `data` as its leaf at this index, and nothing but this. */
  readonly origin?: string;
  readonly index?: number;
}

export interface SignedVerdict {
  readonly ok: boolean;
  readonly signers?: readonly Signer[];
  readonly finding?: string;
}

/** The verdict of ours. */
export function firstVerdict(each: SignedCase): SignedVerdict {
  try {
    return { ok: true, signers: signersOf(each) };
  } catch (error) {
    if (!(error instanceof MalformedNote || error instanceof UntrustedCheckpoint)) throw error;
    return { ok: false, finding: error.message };
  }
}

function signersOf(each: SignedCase): readonly Signer[] {
  const { data, signature, publicKey } = each;
  if (data !== undefined && signature !== undefined && publicKey !== undefined) {
    const text = Buffer.from(data).toString("utf8");
    if (isEd25519Signature(text, Buffer.from(signature), Buffer.from(publicKey))) return [];
    throw new UntrustedCheckpoint("the signature is not valid");
  }
  if (data !== undefined && each.origin !== undefined && each.index !== undefined) {
    const checkpoint = { origin: each.origin, size: each.index + 1, rootHash: emptyRoot };
    readLogRecord({
      checkpoint: { ...checkpoint, signers: [] },
      index: each.index,
      data: Buffer.from(data),
    });
    return [];
  }
  const policy = policyOf(each);
  if (data === undefined) return [];
  const text = decodeNote(data);
  if (!isTlogProof(text)) return verifyCheckpoint(text, policy).signers;
  const proof = verifyTlogProof(text, policy);
  if (each.withRecord === true) readLogRecord(proof);
  return proof.checkpoint.signers;
}

/** The policy of a case. Throws MalformedNote. */
export function policyOf({ policy, verifierKeys = [], witnessKeys = [] }: SignedCase): TlogPolicy {
  if (policy !== undefined) return parseTlogPolicy(policy);
  const keysOf = (texts: readonly string[], type: number) =>
    texts.map((text) => {
      const key = parseVerifierKey(text);
      requireKeyType(key, type);
      return key;
    });
  return policyOfKeys(
    keysOf(verifierKeys, signatureTypes.ed25519),
    keysOf(witnessKeys, signatureTypes.cosignature),
  );
}

/** Expects that a checkpoint or a tlog-proof is refused, of which a log's and a witness's key must have signed the checkpoint. */
export function expectRefused(text: string | Buffer, reason: RegExp): void {
  const { ok, finding } = firstVerdict(caseOf(text));
  expect(ok).toBe(false);
  expect(finding).toMatch(reason);
}

/** A checkpoint or a tlog-proof of the log and the witness of tlog-cases.ts. */
export function caseOf(text: string | Buffer): SignedCase {
  return { data: Buffer.from(text), verifierKeys: [logKeyText], witnessKeys: [witnessKeyText] };
}
