// From the flags of commands that check checkpoints to whom they trust. Reads the policy file, and nothing else.
import { readFile } from "node:fs/promises";
import {
  MalformedNote,
  parseVerifierKey,
  signatureTypes,
  type VerifierKey,
} from "../../core/note.ts";
import {
  parseTlogPolicy,
  policyOfKeys,
  requireKeyType,
  requireWitnesses,
  type TlogPolicy,
} from "../../core/tlog-policy.ts";
import { usageFailure } from "../failure.ts";
import { fileFailureReason } from "./file-failure.ts";

export interface PolicyFlags {
  policy?: string;
  verifierKey?: readonly string[];
  witnessKey?: readonly string[];
}

/**
 * The policy of a file, or one that trusts the logs of these keys; each `--witness-key` has to have cosigned besides. Null
 * where none of the flags is given. A usage failure names the flag, the file and its line.
 */
export async function readPolicyFlags(flags: PolicyFlags): Promise<TlogPolicy | null> {
  const { policy: file, verifierKey = [], witnessKey = [] } = flags;
  if (file !== undefined && verifierKey.length > 0) {
    throw usageFailure("say either --policy or --verifier-key");
  }
  const logs = verifierKey.map((text) => readKey("--verifier-key", text, signatureTypes.ed25519));
  const witnesses = distinct(
    witnessKey.map((text) => readKey("--witness-key", text, signatureTypes.cosignature)),
  );
  if (file !== undefined) return requireWitnesses(await readPolicyFile(file), witnesses);
  if (logs.length > 0) return policyOfKeys(distinct(logs), witnesses);
  if (witnesses.length > 0) {
    throw usageFailure("--witness-key goes with --policy or --verifier-key, which say the log");
  }
  return null;
}

async function readPolicyFile(file: string): Promise<TlogPolicy> {
  let octets: Buffer;
  try {
    octets = await readFile(file);
  } catch (error) {
    throw usageFailure(`--policy ${file} can't be read: ${fileFailureReason(error)}`);
  }
  try {
    return parseTlogPolicy(octets);
  } catch (error) {
    if (!(error instanceof MalformedNote)) throw error;
    throw usageFailure(`--policy ${file}: ${error.message}`);
  }
}

function readKey(flag: string, text: string, type: number): VerifierKey {
  try {
    const key = parseVerifierKey(text);
    requireKeyType(key, type);
    return key;
  } catch (error) {
    if (!(error instanceof MalformedNote)) throw error;
    throw usageFailure(`${flag}: ${error.message}`);
  }
}

/** Somebody who names a key twice means it once. */
function distinct(keys: readonly VerifierKey[]): VerifierKey[] {
  return keys.filter(
    (key, index) =>
      keys.findIndex((one) => one.name === key.name && one.publicKey.equals(key.publicKey)) ===
      index,
  );
}
