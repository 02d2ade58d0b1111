// Streams at the end of a history: every accepted write of a wallet was told once, in order and with its figures, and so
// was every entry that posts some of them.
import type { StreamReader } from "../history/stream-readers.ts";
import type { FinalBooks } from "./final-books.ts";
import { shown, type Violations } from "./violation.ts";

export function checkStreams(
  violations: Violations,
  books: FinalBooks,
  readers: readonly StreamReader[],
): void {
  for (const reader of readers) {
    if (reader.fromSeq === null) {
      // Whoever could not subscribe to a server that was killed has read nothing.
      violations.expect(reader.server.isDead, "stream", () => `${reader.callerKey} has none`);
    } else checkReader(violations, books, reader, reader.fromSeq);
  }
}

function checkReader(
  violations: Violations,
  { wallets, writes, batches }: FinalBooks,
  { server, ledgerId, callerKey, events }: StreamReader,
  fromSeq: number,
): void {
  const walletId = wallets.find(
    (wallet) => wallet.ledgerId === ledgerId && wallet.callerKey === callerKey,
  )?.walletId;
  const told = events.filter(({ isPosting }) => !isPosting);
  // What a server had not told yet when it was killed, another tells.
  const upToSeq = server.isDead ? (told.at(-1)?.seq ?? 0) : Infinity;
  const accepted = writes.filter(
    (row) =>
      row.walletId === walletId && row.type !== "expire" && row.seq > fromSeq && row.seq <= upToSeq,
  );
  const isSame =
    told.length === accepted.length &&
    accepted.every(({ seq, balance, held }, index) => {
      const event = told[index];
      return event?.seq === seq && event.balance === balance && event.available === balance - held;
    });
  violations.expect(isSame, "stream", () => shown({ callerKey, fromSeq, told, accepted }));
  if (server.isDead) return;
  const posted = new Set<string>();
  for (const { walletIds, lastSeqs, journalId } of batches) {
    const place = walletIds.indexOf(walletId ?? "");
    const isNew = place >= 0 && (lastSeqs[place] ?? 0) > fromSeq;
    if (isNew && journalId !== null) posted.add(journalId);
  }
  const postings = events.length - told.length;
  violations.expect(postings >= posted.size, "stream of postings", () =>
    shown({ callerKey, fromSeq, events, posted: [...posted] }),
  );
}
