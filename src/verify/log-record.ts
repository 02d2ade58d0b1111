// What a proven leaf says: the entry or the close that a log of ours has at an index, in the one form that is hashed.
import { hash } from "node:crypto";
import type { z } from "zod";
import { canonicalJson } from "../core/canonical.ts";
import { merkleAlgorithm } from "../core/close.ts";
import type { JsonObject } from "../core/journal.ts";
import { parseOrigin, type LogIdentity } from "../core/log-origin.ts";
import { quoted } from "../core/text.ts";
import { UntrustedCheckpoint } from "./checkpoint.ts";
import { closeDocument, entryDocument, readDocument } from "./documents.ts";
import { readStrictJson } from "./strict-json.ts";
import type { VerifiedProof } from "./tlog-proof.ts";

/** A record whose hash is a leaf of the log. */
export type LogRecord =
  | { readonly kind: "entry"; readonly record: z.output<typeof entryDocument> }
  /** With its closeHash, which is the hash of the leaf's bytes. */
  | { readonly kind: "close"; readonly record: z.output<typeof closeDocument> };

/** What is hashed of a close: all but its own hash. */
const hashedClose = closeDocument.omit({ closeHash: true });

/**
 * Reads the record of a proof that was verified, and checks it against its place: the bytes are its canonical form, its ledger
 * is that of the origin, and its sequence or number the index + 1. Throws UntrustedCheckpoint where it is another record, or
 * none at all.
 */
export function readLogRecord({ checkpoint, index, data }: VerifiedProof): LogRecord {
  const log = parseOrigin(checkpoint.origin);
  if (log === null) {
    throw new UntrustedCheckpoint(
      `${quoted(checkpoint.origin)} is no journal or closes of a ledger`,
    );
  }
  const json = readCanonical(data);
  return log.log === "journal" ? readEntry(json, log, index) : readClose(json, log, index, data);
}

/** The object that these bytes are the canonical form of (RFC 8785). */
function readCanonical(data: Buffer): JsonObject {
  const text = data.toString("utf8");
  const read = readStrictJson(text);
  if ("fault" in read) throw new UntrustedCheckpoint(`the record ${read.fault}`);
  // By its bytes: those that are no UTF-8 are no canonical form either.
  if (!Buffer.from(canonicalJson(read.document)).equals(data)) {
    throw new UntrustedCheckpoint("the record is not in canonical form (RFC 8785)");
  }
  return read.document;
}

function readEntry(json: JsonObject, log: LogIdentity, index: number): LogRecord {
  const read = readDocument(entryDocument, json);
  if ("fault" in read) throw new UntrustedCheckpoint(`the record is no entry: ${read.fault}`);
  const { ledgerId, sequence, lines } = read.document;
  requirePlace("entry", "sequence", ledgerId, sequence, log, index);
  if (lines.length < 2) throw new UntrustedCheckpoint("the entry has fewer than two lines");
  const sum = lines.reduce((total, line) => total + BigInt(line.functionalAmount), 0n);
  if (sum !== 0n) throw new UntrustedCheckpoint(`the lines of the entry sum to ${sum}`);
  return { kind: "entry", record: read.document };
}

function readClose(json: JsonObject, log: LogIdentity, index: number, data: Buffer): LogRecord {
  const read = readDocument(hashedClose, json);
  if ("fault" in read) throw new UntrustedCheckpoint(`the record is no close: ${read.fault}`);
  const close = read.document;
  requirePlace("close", "number", close.ledgerId, close.number, log, index);
  if (close.merkleAlgorithm !== merkleAlgorithm) {
    throw new UntrustedCheckpoint(
      `the close's merkleAlgorithm is ${quoted(close.merkleAlgorithm)}, not ${merkleAlgorithm}`,
    );
  }
  if ((close.previousCloseHash === null) !== (close.number === 1)) {
    throw new UntrustedCheckpoint("only a ledger's first close has no previousCloseHash");
  }
  return { kind: "close", record: { ...close, closeHash: hash("sha256", data, "hex") } };
}

function requirePlace(
  what: string,
  ordinal: string,
  ledgerId: string,
  number: number,
  log: LogIdentity,
  index: number,
): void {
  if (ledgerId !== log.ledgerId) {
    throw new UntrustedCheckpoint(
      `the ${what} is of the ledger ${ledgerId}, the log of ${log.ledgerId}`,
    );
  }
  if (number !== index + 1) {
    throw new UntrustedCheckpoint(
      `the ${what} has the ${ordinal} ${number}, but the leaf of ${index + 1} was expected at index ${index}`,
    );
  }
}
