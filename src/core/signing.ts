// Credentials and the signature of a request. The secret of a key is derived from the master key,
// so that a copy of the database signs nothing.
import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

const masterKeyBytes = 32;
const secretPrefix = "ls_";
const apiKeyPattern = /^lk_[A-Za-z0-9_-]{22,}$/;
const apiSecretPattern = /^ls_[A-Za-z0-9_-]{43}$/;
const signaturePattern = /^[0-9a-fA-F]{64}$/;
const timestampPattern = /^[0-9]{1,15}$/;

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
    .update(`${request.timestamp}\n${request.method}\n${request.target}\n`)
    .update(request.body)
    .digest();
}

/** Compares a signature of 64 hex digits with the one that is due, in constant time. */
export function isSignatureValid(
  secret: string,
  request: SignedRequest,
  signatureHex: string,
): boolean {
  if (!signaturePattern.test(signatureHex)) return false;
  return timingSafeEqual(Buffer.from(signatureHex, "hex"), signRequest(secret, request));
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
  return createHash("sha256")
    .update("ledgerctl/master-key/")
    .update(masterKey)
    .digest("hex")
    .slice(0, 16);
}

/** Reads a master key from base64; null unless it is exactly 32 bytes in standard base64. */
export function parseMasterKey(base64: string): Buffer | null {
  const text = base64.trim();
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) return null;
  const bytes = Buffer.from(text, "base64");
  return bytes.length === masterKeyBytes ? bytes : null;
}
