// Signed notes and verifier keys, as C2SP's signed-note has them. Stricter than it where a note could be changed without
// anybody noticing: base64 has one form only, and no key that is known signs twice.
import { createPrivateKey, createPublicKey, hash, sign, verify } from "node:crypto";
import { quoted } from "./text.ts";

/** A note, proof, key or policy that is not of the form that its specification demands. */
export class MalformedNote extends Error {
  override name = "MalformedNote";
}

/** The first byte of a verifier key's key: what its signatures are. */
export const signatureTypes = {
  /** Ed25519 over the note's text. */
  ed25519: 0x01,
  /** A witness's: Ed25519 over a time and a checkpoint (C2SP tlog-cosignature). */
  cosignature: 0x04,
} as const;

/** A public key, and the name that it signs under. */
export interface VerifierKey {
  readonly name: string;
  /** 8 lower-case hex digits. */
  readonly keyId: string;
  /** Such as `signatureTypes.ed25519`. */
  readonly type: number;
  /** 32 bytes for the types above. */
  readonly publicKey: Buffer;
}

export interface NoteSignature {
  readonly name: string;
  /** 8 lower-case hex digits. */
  readonly keyId: string;
  readonly signature: Buffer;
}

/** A text, with its last newline, and who signed it; no signature is checked yet. */
export interface Note {
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** Longer ones are refused: the specification wants room for 16 signatures at least. */
export const noteBytesMax = 1_000_000;
const signaturesMax = 100;
const keyIdBytes = 4;
const pointBytes = 32;
const signatureBytes = 64;
const fieldPrime = 2n ** 255n - 19n;
/** The y of a point of order 8; those of orders 1, 2 and 4 have simple ones. */
const orderEightY = 0x5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
const smallOrderYs = new Set([0n, 1n, fieldPrime - 1n, orderEightY, fieldPrime - orderEightY]);
/** What comes before the 32 bytes of a private Ed25519 key in PKCS #8 (RFC 8410, section 7). */
const ed25519Pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** Bytes from standard base64 (RFC 4648, section 4), in the one form that encodes them; null for any other text. */
export function parseBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : null;
}

/** What is wrong with the name of a key, or null: without spaces and plus signs. */
export function keyNameFault(name: string): string | null {
  if (name === "") return "must not be empty";
  if (/[\p{White_Space}\p{Cc}+]/u.test(name) || !name.isWellFormed()) {
    return "must not contain spaces, control characters or plus signs";
  }
  return null;
}

/** Reads `<name>+<key ID in hex>+<base64 of type and key>`. Throws MalformedNote. */
export function parseVerifierKey(text: string): VerifierKey {
  const [name, keyId, encoded, ...rest] = text.split("+");
  const base64 = [encoded, ...rest].join("+");
  if (name === undefined || keyId === undefined || encoded === undefined) {
    throw new MalformedNote(
      `${quoted(text)} is no verifier key: name, key ID and key are joined by "+"`,
    );
  }
  const nameFault = keyNameFault(name);
  if (nameFault !== null) throw new MalformedNote(`the name in ${quoted(text)} ${nameFault}`);
  const bytes = parseBase64(base64);
  const type = bytes?.[0];
  if (bytes === null || type === undefined) {
    throw new MalformedNote(`the key in ${quoted(text)} is not base64`);
  }
  const key = { name, type, publicKey: bytes.subarray(1) };
  if (keyIdOf(key) !== keyId) {
    throw new MalformedNote(`the key ID in ${quoted(text)} is not that of its name and key`);
  }
  return { ...key, keyId };
}

/** `<name>+<key ID in hex>+<base64 of type and key>` */
export function formatVerifierKey(key: VerifierKey): string {
  const bytes = Buffer.concat([Buffer.from([key.type]), key.publicKey]);
  return `${key.name}+${key.keyId}+${bytes.toString("base64")}`;
}

/** The first 4 bytes of SHA-256(name ‖ 0x0A ‖ type ‖ public key), in hex. */
function keyIdOf({ name, type, publicKey }: Omit<VerifierKey, "keyId">): string {
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([type]), publicKey]);
  return hash("sha256", bytes, "hex").slice(0, 2 * keyIdBytes);
}

/**
 * The text of a file, to be read as a note or a proof. A byte order mark stays, for these have none. Throws MalformedNote
 * where it is not UTF-8.
 */
export function decodeNote(file: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(file);
  } catch {
    throw new MalformedNote("is not UTF-8");
  }
}

/** Reads a signed note. Throws MalformedNote. */
export function parseNote(note: string): Note {
  if (Buffer.byteLength(note) > noteBytesMax) throw new MalformedNote("is longer than a megabyte");
  // Newline is the only control character below the space.
  if (/[\0-\x09\x0b-\x1f]/.test(note) || !note.isWellFormed()) {
    throw new MalformedNote("has control characters, or is not UTF-8");
  }
  const blank = note.lastIndexOf("\n\n");
  if (blank < 0) throw new MalformedNote("has no empty line between text and signatures");
  const text = note.slice(0, blank + 1);
  const lines = note.slice(blank + 2).split("\n");
  if (lines.pop() !== "" || lines.length === 0) {
    throw new MalformedNote("does not end with lines of signatures");
  }
  if (lines.length > signaturesMax) {
    throw new MalformedNote(`has more than ${signaturesMax} signatures`);
  }
  return { text, signatures: lines.map(parseSignatureLine) };
}

/** Reads `— <name> <base64 of key ID and signature>`, without a newline. Throws MalformedNote. */
export function parseSignatureLine(line: string): NoteSignature {
  const [dash, name, encoded, ...rest] = line.split(" ");
  if (dash !== "—" || name === undefined || encoded === undefined || rest.length > 0) {
    throw new MalformedNote(`${quoted(line)} is not the line of a signature`);
  }
  const fault = keyNameFault(name);
  if (fault !== null) throw new MalformedNote(`the name in ${quoted(line)} ${fault}`);
  const bytes = parseBase64(encoded);
  if (bytes === null || bytes.length <= keyIdBytes) {
    throw new MalformedNote(`the signature in ${quoted(line)} is not base64, or too short`);
  }
  const keyId = bytes.subarray(0, keyIdBytes).toString("hex");
  return { name, keyId, signature: bytes.subarray(keyIdBytes) };
}

/** `— <name> <base64 of key ID and signature>` and a newline. */
export function formatSignatureLine({ name, keyId, signature }: NoteSignature): string {
  const bytes = Buffer.concat([Buffer.from(keyId, "hex"), signature]);
  return `— ${name} ${bytes.toString("base64")}\n`;
}

/** The one signature of this key in a note, or null. Throws MalformedNote where it signed more than once. */
export function signatureOf(note: Note, key: VerifierKey): NoteSignature | null {
  const [first, second] = note.signatures.filter(
    ({ name, keyId }) => name === key.name && keyId === key.keyId,
  );
  if (second !== undefined)
    throw new MalformedNote(`has two signatures of ${key.name}+${key.keyId}`);
  return first ?? null;
}

/** A private Ed25519 key, and the name that it signs under. */
export class NoteSigner {
  readonly verifierKey: VerifierKey;
  readonly #key: ReturnType<typeof createPrivateKey>;

  /** `seed` is the private key of RFC 8032, section 5.1.5: 32 bytes. */
  constructor(name: string, seed: Uint8Array, type: number = signatureTypes.ed25519) {
    const pkcs8 = Buffer.concat([ed25519Pkcs8, seed]);
    this.#key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
    const { x } = createPublicKey(this.#key).export({ format: "jwk" });
    const key = { name, type, publicKey: Buffer.from(x ?? "", "base64url") };
    this.verifierKey = { ...key, keyId: keyIdOf(key) };
  }

  /** The signature of a note's text. */
  sign(text: string): NoteSignature {
    const { name, keyId } = this.verifierKey;
    return { name, keyId, signature: this.signBytes(text) };
  }

  /** Ed25519 over UTF-8 (RFC 8032, section 5.1.6), 64 bytes. */
  signBytes(text: string): Buffer {
    return sign(null, Buffer.from(text), this.#key);
  }
}

/**
 * Whether an Ed25519 signature (RFC 8032, section 5.1.7) over the UTF-8 of a text is that of a public key of 32 bytes. No
 * signature is that of a key which nobody has made: another encoding of a point, or a point of small order, for which
 * anybody can sign. 32 zeros are one. Nor has one an R of small order: nobody signs so by chance, and of that with R = 1,
 * OpenSSL 3.0 says yes and 3.5 no.
 */
export function isEd25519Signature(text: string, signature: Buffer, publicKey: Buffer): boolean {
  if (publicKey.length !== pointBytes || isOfSmallOrder(publicKey)) return false;
  if (signature.length !== signatureBytes) return false;
  if (isOfSmallOrder(signature.subarray(0, pointBytes))) return false;
  const x = publicKey.toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return verify(null, Buffer.from(text), key, signature);
}

/** Whether an encoded point's y (RFC 8032, section 5.1.2) is that of one of small order, or beyond the field. */
function isOfSmallOrder(point: Buffer): boolean {
  const y = BigInt.asUintN(255, BigInt(`0x${Buffer.from(point).reverse().toString("hex")}`));
  return y >= fieldPrime || smallOrderYs.has(y);
}
