// The chain of a wallet's log: a hash that covers whose the wallet is and everything that each row says. Pure.
import { hash } from "node:crypto";
import type { Timestamp } from "./time.ts";
import type { ChainHash, WalletLogEntry } from "./wallet.ts";

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

/**
 * The hash that a chain begins with: SHA-256 of
 * `["ledgerctl/wallet-log/v1",ledgerId,walletId,callerKey,assetCode,chainedAfter]`.
 */
export function chainStart(wallet: ChainStart): ChainHash {
  const { ledgerId, walletId, callerKey, assetCode, chainedAfter } = wallet;
  const document = [
    "ledgerctl/wallet-log/v1",
    ...[ledgerId, walletId, callerKey, assetCode, chainedAfter],
  ];
  return hash("sha256", JSON.stringify(document));
}

/**
 * The hash after one more row: SHA-256 over the hex digits of the hash before and the canonical JSON (RFC 8785) of
 * `[seq,type,amount,balance,held,externalId,holdId,metadata,at,expiresAt,pendingPostingId,ruleVersion]`, amounts as
 * strings, in UTF-8. The row of a transfer has `transferId,counterparty` at the end of it, so that rows without them are
 * hashed as they were before there were transfers.
 */
export function chainEntry(
  previous: ChainHash,
  entry: ChainedEntry,
  { expiresAt, ruleVersion }: AcceptedWith,
): ChainHash {
  const { externalId, holdId, metadata, pendingPostingId, transferId } = entry;
  const transfer = transferId === null ? "" : `,"${transferId}",${quotedText(entry.counterparty)}`;
  // Put together by hand: JSON.stringify of the whole takes three times as long, and this is done for each write.
  return hash(
    "sha256",
    `${previous}[${entry.seq},"${entry.type}","${entry.amount}","${entry.balance}","${entry.held}",` +
      `${quotedText(externalId)},${quotedOrNull(holdId)},${quotedText(metadata)},"${entry.at}",` +
      `${quotedOrNull(expiresAt)},${quotedOrNull(pendingPostingId)},${ruleVersion ?? "null"}${transfer}]`,
  );
}

/** For ids and times, which have nothing to escape. */
function quotedOrNull(text: string | null): string {
  return text === null ? "null" : `"${text}"`;
}

/** What JSON never escapes. */
const plain = /^[ !#-[\]-~]*$/;

function quotedText(text: string | null): string {
  if (text === null) return "null";
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}
