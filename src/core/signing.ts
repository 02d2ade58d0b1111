// Credentials and the signature of a request. The secret of a key is derived from the master key,
// so a copy of the database is not enough to sign.
import { createHmac, hash, hkdfSync, timingSafeEqual } from "node:crypto";

const secretPrefix = "ls_";
/** Bounded because HKDF takes no more than 1,024 bytes of info in Node. */
const apiKeyPattern = /^lk_[A-Za-z0-9_-]{22,256}$/;
const apiSecretPattern = /^ls_[A-Za-z0-9_-]{43}$/;
const signaturePattern = /^[0-9a-fA-F]{64}$/;
const timestampPattern = /^[0-9]{1,15}$/;
const hashBytes = 32;
const hashBlockBytes = 64;
/** Buffer in which a request is assembled to be hashed; valid only during the call. */
const scratch = Buffer.allocUnsafe(8 * 1024);

export interface SignedRequest {
  /** X-Timestamp as it travels: Unix seconds, digits only. */
  readonly timestamp: string;
  /** In upper case. */
  readonly method: string;
  /** The request target of the request line (RFC 9112, section 3.2), query included, not decoded. */
  readonly target: string;
  /** The raw bytes of the body; empty where there is none. */
  readonly body: Uint8Array | string;
}

/** HMAC-SHA256 of the string to sign, keyed with the UTF-8 bytes of the whole secret. 32 bytes. */
export function signRequest(secret: string, request: SignedRequest): Buffer {
  return createHmac("sha256", secret)
    .update(stringBeforeBody(request))
    .update(request.body)
    .digest();
}

function stringBeforeBody({ timestamp, method, target }: SignedRequest): string {
  return `${timestamp}\n${method}\n${target}\n`;
}

/**
 * A secret, as `signRequest` takes it, with which many signatures are checked. The HMAC is made of its two
 * hashes (RFC 2104, section 2): an Hmac object of Node's, for requests as short as ours, costs three times as much.
 */
export class SigningKey {
  readonly #secret: string;
  readonly #innerPad: Buffer;
  /** The outer pad, followed by space for the inner hash. */
  readonly #outer: Buffer;

  constructor(secret: string) {
    this.#secret = secret;
    const bytes = Buffer.from(secret);
    const key = Buffer.alloc(hashBlockBytes);
    key.set(bytes.length > hashBlockBytes ? hash("sha256", bytes, "buffer") : bytes);
    this.#innerPad = key.map((byte) => byte ^ 0x36) as Buffer;
    this.#outer = Buffer.concat([key.map((byte) => byte ^ 0x5c)], hashBlockBytes + hashBytes);
  }

  /** Whether a text is the right signature, in hex of either case; compared in constant time. */
  isValid(request: SignedRequest, signatureHex: string): boolean {
    if (!signaturePattern.test(signatureHex)) return false;
    const due = this.#signatureOf(request);
    return timingSafeEqual(Buffer.from(due), Buffer.from(signatureHex.toLowerCase()));
  }

  #signatureOf(request: SignedRequest): string {
    const { body } = request;
    const head = stringBeforeBody(request);
    // A code unit is three bytes at most. What might not fit goes the usual way.
    if (hashBlockBytes + 3 * head.length + 3 * body.length > scratch.length) {
      return signRequest(this.#secret, request).toString("hex");
    }
    scratch.set(this.#innerPad);
    let end = hashBlockBytes + scratch.write(head, hashBlockBytes);
    if (typeof body === "string") end += scratch.write(body, end);
    else {
      scratch.set(body, end);
      end += body.length;
    }
    this.#outer.write(hash("sha256", scratch.subarray(0, end), "hex"), hashBlockBytes, "hex");
    return hash("sha256", this.#outer, "hex");
  }
}

/** Whether X-Timestamp lies within the window around the server's clock, in both directions. */
export function isTimestampInWindow(
  timestamp: string,
  nowEpochMs: number,
  windowSeconds: number,
): boolean {
  if (!timestampPattern.test(timestamp)) return false;
  return Math.abs(Number(timestamp) - Math.floor(nowEpochMs / 1000)) <= windowSeconds;
}

export function isApiKey(text: string): boolean {
  return apiKeyPattern.test(text);
}

export function isApiSecret(text: string): boolean {
  return apiSecretPattern.test(text);
}

/** `lk_` and 22 URL-safe characters from 16 random bytes. */
export function apiKeyFromRandom(random: Uint8Array): string {
  return `lk_${Buffer.from(random).toString("base64url")}`;
}

/**
 * The signing secret of an API key: `ls_` and base64url of
 * HKDF-SHA256(master key, empty salt, `ledgerctl/api-secret/v1/` + API key, 32 bytes) (RFC 5869).
 */
export function deriveApiSecret(masterKey: Uint8Array, apiKey: string): string {
  const bytes = hkdfSync("sha256", masterKey, "", `ledgerctl/api-secret/v1/${apiKey}`, 32);
  return secretPrefix + Buffer.from(bytes).toString("base64url");
}

/** The first 8 bytes of SHA-256(`ledgerctl/master-key/` ‖ master key): tells master keys apart, in hex. */
export function masterKeyFingerprint(masterKey: Uint8Array): string {
  const bytes = Buffer.concat([Buffer.from("ledgerctl/master-key/"), masterKey]);
  return hash("sha256", bytes, "hex").slice(0, 16);
}

/** Reads a master key from base64; null unless it is exactly 32 bytes in standard base64. */
export function parseMasterKey(base64: string): Buffer | null {
  const text = base64.trim();
  return /^[A-Za-z0-9+/]{43}=$/.test(text) ? Buffer.from(text, "base64") : null;
}
