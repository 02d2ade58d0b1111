// Checking a checkpoint: the log's own signature, those of witnesses, and whether these are enough.
import { cosignatureTime, parseCheckpoint, type Checkpoint } from "../core/checkpoint.ts";
import { isEd25519Signature, parseNote, signatureOf } from "../core/note.ts";
import { isQuorumMet, type PolicyWitness, type TlogPolicy } from "../core/tlog-policy.ts";

/** A note of the right form that nobody who is trusted vouches for. */
export class UntrustedCheckpoint extends Error {
  override name = "UntrustedCheckpoint";
}

/** Who signed; witnesses say when, in Unix seconds. */
export interface Signer {
  readonly name: string;
  readonly time: number | null;
}

export interface VerifiedCheckpoint extends Checkpoint {
  /** The log first, then those witnesses of the policy that cosigned. */
  readonly signers: readonly Signer[];
}

/**
 * Checks a signed note against a policy: a log of the policy with the note's origin signed it, all signatures of keys
 * that the policy names are valid, and the quorum is met. Throws MalformedNote or UntrustedCheckpoint.
 */
export function verifyCheckpoint(note: string, policy: TlogPolicy): VerifiedCheckpoint {
  const parsed = parseNote(note);
  const { text } = parsed;
  const checkpoint = parseCheckpoint(text);
  const signers: Signer[] = [];
  for (const { key } of policy.logs) {
    const signature = signatureOf(parsed, key);
    if (signature === null) continue;
    if (!isEd25519Signature(text, signature.signature, key.publicKey)) {
      throw new UntrustedCheckpoint(`the signature of ${key.name} is not valid`);
    }
    // A log that is rotating its keys signs with two of one name.
    if (key.name === checkpoint.origin && signers.length === 0) {
      signers.push({ name: key.name, time: null });
    }
  }
  if (signers.length === 0) {
    throw new UntrustedCheckpoint(
      `no trusted key of the log ${checkpoint.origin} signed the checkpoint`,
    );
  }
  const cosigned = new Set<PolicyWitness>();
  for (const witness of policy.witnesses) {
    const signature = signatureOf(parsed, witness.key);
    if (signature === null) continue;
    const time = cosignatureTime(text, signature, witness.key);
    if (time === null) {
      throw new UntrustedCheckpoint(`the cosignature of ${witness.key.name} is not valid`);
    }
    cosigned.add(witness);
    signers.push({ name: witness.key.name, time });
  }
  if (!isQuorumMet(policy, cosigned)) {
    const missing = policy.witnesses
      .filter((witness) => !cosigned.has(witness))
      .map(({ key }) => key.name);
    throw new UntrustedCheckpoint(`too few witnesses cosigned; missing: ${missing.join(", ")}`);
  }
  return { ...checkpoint, signers };
}
