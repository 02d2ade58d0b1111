// What a wallet's listeners have been given, and what of its log and its postings they are given next.
import { evictOldest } from "../core/evict-oldest.ts";
import type { WalletLogEntry } from "../core/wallet.ts";
import type { Feed } from "./feeds.ts";

export interface BalanceEvent {
  readonly balance: bigint;
  readonly available: bigint;
  /** Of the write, or of the wallet's latest write where the event is a posting; expiries are no writes. */
  readonly seq: number;
  readonly isPosting: boolean;
}

/** The end of one wallet's log. Its places are the seqs. */
export interface WalletFeed extends Feed<BalanceEvent> {
  readonly ledgerId: string;
  readonly callerKey: string;
  /** The figures after the last row that was given, and the seq of the last write. */
  latest: Omit<BalanceEvent, "isPosting">;
  /** Pending postings with writes of this wallet whose posting has not been sent. */
  readonly pendingPostings: Set<string>;
  /** The last entries that were sent: pending postings of one may be read only afterwards. */
  readonly sentEntries: Set<string>;
}

/** Entries that a feed remembers to have told of. */
const sentEntriesMax = 64;

/** One event for each entry that posts writes of the wallet, with the latest figures. */
export function sendPostings(feed: WalletFeed, journalOf: ReadonlyMap<string, string>): void {
  const entries = new Set<string>();
  for (const pendingPostingId of feed.pendingPostings) {
    const journalId = journalOf.get(pendingPostingId);
    if (journalId === undefined) continue;
    feed.pendingPostings.delete(pendingPostingId);
    if (!feed.sentEntries.has(journalId)) entries.add(journalId);
  }
  for (const journalId of entries) {
    evictOldest(feed.sentEntries, sentEntriesMax);
    feed.sentEntries.add(journalId);
    const event = { ...feed.latest, isPosting: true };
    for (const listener of feed.listeners.keys()) listener(event);
  }
}

/** The event of the log's next row; an expiry moves the feed on and has none. */
export function sendWrite(feed: WalletFeed, row: WalletLogEntry): void {
  feed.lastPlace = row.seq;
  const event = eventOf(row);
  // It is logged, but nobody accepted it.
  if (row.type === "expire") {
    feed.latest = { ...event, seq: feed.latest.seq };
    return;
  }
  feed.latest = event;
  if (row.pendingPostingId !== null) feed.pendingPostings.add(row.pendingPostingId);
  for (const listener of feed.listeners.keys()) listener(event);
}

export function eventOf({ balance, held, seq }: WalletLogEntry): BalanceEvent {
  return { balance, available: balance - held, seq, isPosting: false };
}
