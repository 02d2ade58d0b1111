// Bringing a witness up to a checkpoint: as many requests as it takes to learn what it has and to prove the rest.
import type { Hash } from "../../core/merkle.ts";
import type { NoteSignature } from "../../core/note.ts";
import { WitnessConnection, WitnessFailure, type SubmissionWitness } from "./witness-request.ts";

/** A checkpoint that was signed, and what can be proved of it. */
export interface ProvableCheckpoint {
  readonly size: number;
  /** The signed note. */
  readonly note: string;
  /** That a smaller tree, of at least one leaf, is its beginning (RFC 6962, section 2.1.2). */
  proveFrom(size: number): Promise<readonly Hash[]>;
}

export type SubmissionOutcome =
  | { readonly outcome: "cosigned"; readonly signature: NoteSignature; readonly time: number }
  /** The witness has seen a larger tree, of this size. */
  | { readonly outcome: "ahead"; readonly size: number }
  /** The tree of this size that the witness has seen is not the checkpoint's beginning. */
  | { readonly outcome: "inconsistent"; readonly size: number };

/** Another server may submit checkpoints at the same time. More conflicts than these are of the witness's making. */
const attemptsMax = 4;

/**
 * Submits a checkpoint to a witness that is thought to have `oldSize` of the log, 0 for nothing; it says so if that is
 * wrong. Rejects with WitnessFailure, or what a proof could not be made for.
 */
export async function submitCheckpoint(
  connection: WitnessConnection,
  checkpoint: ProvableCheckpoint,
  oldSize: number,
): Promise<SubmissionOutcome> {
  let size = oldSize;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const proof = size === 0 || size === checkpoint.size ? [] : await checkpoint.proveFrom(size);
    const answer = await connection.addCheckpoint({ oldSize: size, proof, note: checkpoint.note });
    if (answer.outcome === "cosigned") return answer;
    if (answer.outcome === "inconsistent") return { outcome: "inconsistent", size };
    if (answer.size > checkpoint.size) return { outcome: "ahead", size: answer.size };
    if (answer.size === size) break;
    size = answer.size;
  }
  throw new WitnessFailure("answers 409 whatever size it is told", { concernsLog: true });
}

export type WitnessOpinion =
  | { readonly opinion: "agrees"; readonly signature: NoteSignature; readonly time: number }
  /** It has seen a larger tree, of this size. */
  | { readonly opinion: "has more"; readonly size: number }
  /** The tree that it has seen is not the beginning of the checkpoint's. */
  | { readonly opinion: "has another root"; readonly size: number }
  /** It could not be asked: why. */
  | { readonly opinion: "unknown"; readonly reason: string };

/**
 * What a witness has seen of a log, compared with a checkpoint that was signed before; where it has seen less, it learns of
 * the checkpoint.
 */
export async function askWitness(
  witness: SubmissionWitness,
  checkpoint: ProvableCheckpoint,
): Promise<WitnessOpinion> {
  const connection = new WitnessConnection(witness);
  try {
    const answer = await submitCheckpoint(connection, checkpoint, checkpoint.size);
    if (answer.outcome === "cosigned") return { ...answer, opinion: "agrees" };
    if (answer.outcome === "ahead") return { opinion: "has more", size: answer.size };
    return { opinion: "has another root", size: answer.size };
  } catch (error) {
    if (!(error instanceof WitnessFailure)) throw error;
    return { opinion: "unknown", reason: error.message };
  } finally {
    await connection.close();
  }
}
