// Proofs that closes are in the signed log of their ledger, for those who verify the closes' bundles.
import type { CloseRecord } from "../../../core/close.ts";
import { decodeNote, MalformedNote } from "../../../core/note.ts";
import type { TlogPolicy } from "../../../core/tlog-policy.ts";
import { UntrustedCheckpoint, type VerifiedCheckpoint } from "../../../verify/checkpoint.ts";
import { readLogRecord } from "../../../verify/log-record.ts";
import { verifyTlogProof } from "../../../verify/tlog-proof.ts";
import type { Finding } from "../../../verify/verdict.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
import { describeAuditorsFile, kindOfAuditorsFile } from "../../input/auditors-file.ts";
import { readPolicyFlags, type PolicyFlags } from "../../input/policy-flags.ts";
import { readProofBytes, requireProofSize } from "../../input/proof-file.ts";

export interface ProofFlags extends PolicyFlags {
  proof?: readonly string[];
}

/** A proof that holds: this record is in the log that the checkpoint is of. */
export interface CloseProof {
  readonly file: string;
  readonly record: CloseRecord;
  readonly checkpoint: VerifiedCheckpoint;
}

/**
 * Verifies the proofs that flags name, each a tlog-proof of a close. One that does not hold is a finding; one that can't be
 * read, and keys that are none, end the command.
 */
export async function readCloseProofs(
  flags: ProofFlags,
): Promise<{ proofs: readonly CloseProof[]; findings: readonly Finding[] }> {
  const files = flags.proof ?? [];
  const policy = await readPolicyFlags(flags);
  if (policy === null && files.length > 0) {
    throw usageFailure(
      "--proof needs --policy FILE or --verifier-key VKEY, which say whose signature to trust",
    );
  }
  if (policy === null) return { proofs: [], findings: [] };
  if (files.length === 0) {
    throw usageFailure("keys and policies go with --proof FILE, the tlog-proof of a close");
  }
  const proofs: CloseProof[] = [];
  const findings: Finding[] = [];
  for (const file of files) {
    const found = readCloseProof(file, await readBytes(file), policy);
    if ("what" in found) findings.push(found);
    else proofs.push(found);
  }
  return { proofs, findings };
}

/** Whether a proof is of this very close. */
export function isProofOf({ record }: CloseProof, ledgerId: string, closeHash: string): boolean {
  return record.ledgerId === ledgerId && record.closeHash === closeHash;
}

/** What is wrong with a proof that is of none of the closes that were verified. */
export function strayProof({ file, record }: CloseProof): Finding {
  const what =
    `is of close ${record.number} of ledger ${record.ledgerId}, period ${JSON.stringify(record.periodId)}, ` +
    `closeHash ${record.closeHash}: no bundle here is of that close`;
  return { where: `proof ${file}`, what };
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readProofBytes(file);
  } catch (error) {
    // A file that can't be read says nothing about what is in it.
    if (error instanceof CommandFailure) throw new CommandFailure(error.message, exitCodes.failed);
    throw error;
  }
}

function readCloseProof(file: string, bytes: Buffer, policy: TlogPolicy): CloseProof | Finding {
  const where = `proof ${file}`;
  try {
    requireProofSize(bytes);
    const proof = verifyTlogProof(decodeNote(bytes), policy);
    const { kind, record } = readLogRecord(proof);
    if (kind === "close") return { file, record, checkpoint: proof.checkpoint };
    return { where, what: `is of the entry ${record.journalId}, not of a close` };
  } catch (error) {
    if (!(error instanceof MalformedNote || error instanceof UntrustedCheckpoint)) throw error;
    const kind = kindOfAuditorsFile(bytes.subarray(0, 1_000));
    const isOther = kind !== null && kind !== "tlog-proof";
    return { where, what: isOther ? `is ${describeAuditorsFile(kind)}` : error.message };
  }
}
