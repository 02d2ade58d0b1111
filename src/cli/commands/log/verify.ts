// `log verify`: checkpoints and tlog-proofs against a policy. Offline.
import type { Environment } from "../../../config.ts";
import { decodeNote, MalformedNote } from "../../../core/note.ts";
import { isTlogProof } from "../../../core/tlog-proof.ts";
import type { TlogPolicy } from "../../../core/tlog-policy.ts";
import {
  UntrustedCheckpoint,
  verifyCheckpoint,
  type Signer,
  type VerifiedCheckpoint,
} from "../../../verify/checkpoint.ts";
import { readLogRecord, type LogRecord } from "../../../verify/log-record.ts";
import { verifyTlogProof } from "../../../verify/tlog-proof.ts";
import { CommandFailure, exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { describeAuditorsFile, kindOfAuditorsFile } from "../../input/auditors-file.ts";
import { readPolicyFlags, type PolicyFlags } from "../../input/policy-flags.ts";
import { readProofBytes, requireProofSize } from "../../input/proof-file.ts";
import { counted } from "../../terminal/counted.ts";
import { Output } from "../../terminal/output.ts";
import { checkpointLines } from "./checkpoint-lines.ts";
import { describeRecord } from "./describe-record.ts";

export type LogVerifyFlags = OutputFlags & PolicyFlags;

/** What a file showed; its members are null where it did not hold. */
interface Verified {
  readonly kind: "checkpoint" | "proof";
  readonly checkpoint: VerifiedCheckpoint;
  readonly index: number | null;
  readonly record: LogRecord | null;
}

interface Checked {
  readonly file: string;
  /** Null where the file can't be read. */
  readonly kind: "checkpoint" | "proof" | null;
  readonly verified: Verified | null;
  readonly finding: string | null;
}

export async function verifyLogFiles(
  files: readonly string[],
  flags: LogVerifyFlags,
  environment: Environment,
): Promise<ExitCode> {
  const output = new Output(flags, environment.isColorRefused);
  const policy = await readPolicyFlags(flags);
  if (policy === null) {
    throw usageFailure(
      "say whom you trust: --policy FILE, or --verifier-key VKEY; `ledgerctl log key` prints the keys, and the operator " +
        "should give them to you by another way",
    );
  }
  const checked: Checked[] = [];
  for (const file of files) {
    const found = await checkFile(file, policy);
    checked.push(found);
    if (!output.isJson) output.line(`${output.judged(describe(found, output))}\n`);
  }
  const ok = checked.every(({ finding }) => finding === null);
  if (output.isJson) output.result({ ok, files: checked.map(documentOf) }, () => "");
  else output.line(output.judged(verdictOf(checked)));
  if (ok) return exitCodes.done;
  const hasFailed = checked.some(({ kind, finding }) => kind !== null && finding !== null);
  return hasFailed ? exitCodes.verificationFailed : exitCodes.failed;
}

async function checkFile(file: string, policy: TlogPolicy): Promise<Checked> {
  let bytes: Buffer;
  try {
    bytes = await readProofBytes(file);
  } catch (error) {
    // A file that can't be read says nothing about what is in it.
    if (!(error instanceof CommandFailure)) throw error;
    return { file, kind: null, verified: null, finding: error.message };
  }
  let kind: Verified["kind"] = "checkpoint";
  try {
    requireProofSize(bytes);
    const text = decodeNote(bytes);
    kind = isTlogProof(text) ? "proof" : "checkpoint";
    return { file, kind, verified: verifyText(text, policy), finding: null };
  } catch (error) {
    if (!(error instanceof MalformedNote || error instanceof UntrustedCheckpoint)) throw error;
    return { file, kind, verified: null, finding: findingOf(error, bytes) };
  }
}

function verifyText(text: string, policy: TlogPolicy): Verified {
  if (!isTlogProof(text)) {
    const checkpoint = verifyCheckpoint(text, policy);
    return { kind: "checkpoint", checkpoint, index: null, record: null };
  }
  const proof = verifyTlogProof(text, policy);
  const { checkpoint, index } = proof;
  return { kind: "proof", checkpoint, index, record: readLogRecord(proof) };
}

/** Somebody may have given a file of another command. */
function findingOf(error: Error, bytes: Buffer): string {
  const found = kindOfAuditorsFile(bytes.subarray(0, 1_000));
  return found === "bundle" || found === "proof"
    ? `it is ${describeAuditorsFile(found)}`
    : error.message;
}

function documentOf({ file, kind, verified, finding }: Checked): object {
  return {
    file,
    kind,
    ok: finding === null,
    origin: verified?.checkpoint.origin ?? null,
    size: verified?.checkpoint.size ?? null,
    rootHash: verified?.checkpoint.rootHash.toString("hex") ?? null,
    index: verified?.index ?? null,
    record: verified?.record?.record ?? null,
    signers: (verified?.checkpoint.signers ?? []) satisfies readonly Signer[],
    finding,
  };
}

function describe({ file, kind, verified, finding }: Checked, output: Output): string {
  if (verified === null) {
    // What can't be read is named by its message.
    if (kind === null) return finding ?? "";
    return output.folded(`${file}\nMISMATCH     ${finding ?? ""}`);
  }
  const { checkpoint, index, record } = verified;
  const lines = [file, ...checkpointLines(checkpoint)];
  if (index !== null) lines.push(`index        ${index}`);
  const described = output.folded(lines.join("\n"));
  return record === null ? described : `${described}\n${describeRecord(record, output)}`;
}

function verdictOf(checked: readonly Checked[]): string {
  const failed = checked.filter(({ finding }) => finding !== null);
  if (failed.length > 0) {
    return `FAILED: ${failed.length} of ${counted(checked.length, "file")} can't be trusted.`;
  }
  const proofs = checked.filter(({ kind }) => kind === "proof").length;
  const what =
    proofs === 0
      ? "signed as the keys demand"
      : "signed as the keys demand, and every record is in its log";
  return `verified: ${counted(checked.length, "file")}, ${what}.`;
}
