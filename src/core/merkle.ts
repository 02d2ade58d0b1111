// Hashes of the Merkle tree of RFC 6962, section 2.1.
import { createHash } from "node:crypto";

const leafPrefix = Buffer.from([0x00]);

/** The hash of a leaf: SHA-256(0x00 ‖ data), 32 bytes. Text is hashed as its UTF-8 bytes. */
export function hashLeaf(data: Uint8Array | string): Buffer {
  return createHash("sha256").update(leafPrefix).update(data).digest();
}
