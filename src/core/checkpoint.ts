// Checkpoints of a log and the cosignatures of its witnesses (C2SP tlog-checkpoint and tlog-cosignature).
import type { Hash } from "./merkle.ts";
import {
  isEd25519Signature,
  MalformedNote,
  parseBase64,
  signatureTypes,
  type NoteSignature,
  type NoteSigner,
  type VerifierKey,
} from "./note.ts";
import { quoted } from "./text.ts";

const hashBytes = 32;
const timeBytes = 8;

/** What a log says of itself: its origin, how many leaves it has, and the root over them. */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly rootHash: Hash;
}

/** The text of a note: three lines. */
export function formatCheckpoint({ origin, size, rootHash }: Checkpoint): string {
  return `${origin}\n${size}\n${rootHash.toString("base64")}\n`;
}

/** Reads the text of a note. Throws MalformedNote; also for lines behind the third, which logs of ours don't have. */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin, size, root, end, ...rest] = text.split("\n");
  if (
    origin === undefined ||
    size === undefined ||
    root === undefined ||
    end !== "" ||
    rest.length > 0
  ) {
    throw new MalformedNote("a checkpoint has three lines: origin, size and root");
  }
  if (origin === "") throw new MalformedNote("the origin is empty");
  return { origin, size: parseDecimal(size, "size"), rootHash: parseHash(root) };
}

/** A whole number without sign and leading zeros, up to 2^53 - 1. Throws MalformedNote, which names it as `what`. */
export function parseDecimal(text: string, what: string): number {
  const value = Number(text);
  if (!/^(0|[1-9][0-9]{0,15})$/.test(text) || !Number.isSafeInteger(value)) {
    throw new MalformedNote(`the ${what} ${quoted(text)} is not a decimal number up to 2^53 - 1`);
  }
  return value;
}

/** A SHA-256 hash in base64. Throws MalformedNote. */
export function parseHash(text: string): Hash {
  const hash = parseBase64(text);
  if (hash?.length !== hashBytes) {
    throw new MalformedNote(`${quoted(text)} is not a hash of 32 bytes in base64`);
  }
  return hash;
}

/** A witness's statement that at `time`, in Unix seconds, this checkpoint was the newest that it had seen of the log. */
export function cosign(signer: NoteSigner, text: string, time: number): NoteSignature {
  const { name, keyId } = signer.verifierKey;
  const timestamp = Buffer.alloc(timeBytes);
  timestamp.writeBigUInt64BE(BigInt(time));
  const signature = Buffer.concat([timestamp, signer.signBytes(cosignedText(text, time))]);
  return { name, keyId, signature };
}

function cosignedText(text: string, time: number | bigint): string {
  return `cosignature/v1\ntime ${time}\n${text}`;
}

/** When a witness cosigned a checkpoint, in Unix seconds; null where the cosignature does not hold. */
export function cosignatureTime(
  text: string,
  { signature }: NoteSignature,
  key: VerifierKey,
): number | null {
  if (key.type !== signatureTypes.cosignature || signature.length <= timeBytes) return null;
  const time = signature.readBigUInt64BE();
  // Later ones are no Unix time that anybody could mean, and 0 says that there is none.
  if (time === 0n || time > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  const isValid = isEd25519Signature(
    cosignedText(text, time),
    signature.subarray(timeBytes),
    key.publicKey,
  );
  return isValid ? Number(time) : null;
}
