// The chain of a wallet's log: a hash that covers whose the wallet is and everything that each row says. Pure.
import { hash } from "node:crypto";
import type { Hash } from "./merkle.ts";
import type { Timestamp } from "./time.ts";
import type { WalletLogEntry } from "./wallet.ts";

/** The wallet that a chain belongs to, and the seq after which it begins (0: the chain has the whole log). */
export interface ChainStart {
  readonly ledgerId: string;
  readonly walletId: string;
  readonly callerKey: string;
  readonly assetCode: string;
  readonly chainedAfter: number;
}

/** A row of a log, as far as it is chained. */
export type ChainedEntry = Omit<WalletLogEntry, "callerKey" | "walletId">;

/** What was accepted with a row and is kept elsewhere. */
export interface AcceptedWith {
  /** When the hold that it makes expires; null for one that does not, and for any other row. */
  readonly expiresAt: Timestamp | null;
  /** The version of the asset's rule that its pending posting was accepted under; null where it moves no money. */
  readonly ruleVersion: number | null;
}

/** The hash that a chain begins with: SHA-256 of `["ledgerctl/wallet-log/v1",ledgerId,walletId,callerKey,assetCode,chainedAfter]`. */
export function chainStart(wallet: ChainStart): Hash {
  const { ledgerId, walletId, callerKey, assetCode, chainedAfter } = wallet;
  const document = [
    "ledgerctl/wallet-log/v1",
    ...[ledgerId, walletId, callerKey, assetCode, chainedAfter],
  ];
  return hash("sha256", JSON.stringify(document), "buffer");
}

const hashBytes = 32;
/** The hash before and the row; nothing else runs between filling and hashing it. */
let scratch = Buffer.alloc(4_096);

/**
 * The hash after one more row: SHA-256(previous ‖ canonical bytes), the bytes being the UTF-8 of the JSON array
 * `[seq,type,amount,balance,held,externalId,holdId,metadata,at,expiresAt,pendingPostingId,ruleVersion]`, amounts as
 * strings. Such an array is its own canonical form (RFC 8785).
 */
export function chainEntry(previous: Hash, entry: ChainedEntry, accepted: AcceptedWith): Hash {
  const text = canonicalText(entry, accepted);
  // No UTF-16 unit takes more than three bytes.
  const bytesMax = hashBytes + text.length * 3;
  if (scratch.length < bytesMax) scratch = Buffer.alloc(bytesMax);
  previous.copy(scratch);
  const end = hashBytes + scratch.write(text, hashBytes);
  return hash("sha256", scratch.subarray(0, end), "buffer");
}

/** Put together by hand: JSON.stringify of the whole takes three times as long, and this is done for each write. */
function canonicalText(entry: ChainedEntry, { expiresAt, ruleVersion }: AcceptedWith): string {
  const { externalId, holdId, metadata, pendingPostingId } = entry;
  return (
    `[${entry.seq},"${entry.type}","${entry.amount}","${entry.balance}","${entry.held}",` +
    `${externalId === null ? "null" : JSON.stringify(externalId)},${quotedOrNull(holdId)},` +
    `${metadata === null ? "null" : JSON.stringify(metadata)},"${entry.at}",` +
    `${quotedOrNull(expiresAt)},${quotedOrNull(pendingPostingId)},${ruleVersion ?? "null"}]`
  );
}

/** For ids and times, which have nothing to escape. */
function quotedOrNull(text: string | null): string {
  return text === null ? "null" : `"${text}"`;
}
