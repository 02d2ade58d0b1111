// What is delivered next: entries, closes and postings in the order of the journal, then wallet writes in theirs. A close
// stands behind the last entry that it covers, which was recorded before it.
import type { CloseRecord } from "../../core/close.ts";
import type { DeliveryEventKind, DeliveryPlace, JournalPlace } from "../../core/delivery.ts";
import { assert } from "../../core/errors.ts";
import type { StoredEntry } from "../../core/journal.ts";
import type { Connection } from "../../store/database/connection.ts";
import { everyEntry, listEntries } from "../../store/entry-lists.ts";
import { listOrderedWrites, type OrderedWalletWrite } from "../../store/ordered-wallet-writes.ts";
import { listCloses } from "../../store/period-closes.ts";
import { listWalletPostings } from "../../store/wallet-postings.ts";

/** An event of the journal, and the place of a receiver that has it. */
type JournalEvent = { readonly place: JournalPlace } & (
  | { readonly type: "entry" | "posting"; readonly entry: StoredEntry }
  | { readonly type: "close"; readonly close: CloseRecord }
);

export type DeliveryEvent =
  JournalEvent | { readonly type: "wallet"; readonly write: OrderedWalletWrite };

export interface DeliverySpan {
  readonly events: readonly DeliveryEvent[];
  /** Of a receiver that has them all. */
  readonly place: DeliveryPlace;
}

/** Of one request. */
const entriesMax = 100;
const closesMax = 100;
const bytesMax = 512 * 1024;
const walletWritesMax = 500;
/** Of the metadata of wallet writes, which is what may be large of them. */
const walletBytesMax = 256 * 1024;

/** The events behind a place and up to another, which has to be confirmed; as many as fit a request. */
export async function readDeliveryEvents(
  connection: Connection,
  ledgerId: string,
  kinds: readonly DeliveryEventKind[],
  after: DeliveryPlace,
  upTo: DeliveryPlace,
): Promise<DeliverySpan> {
  const [journal, writes] = await Promise.all([
    readJournalEvents(connection, ledgerId, kinds, after, upTo),
    kinds.includes("wallet") ? readWalletWrites(connection, ledgerId, after, upTo) : [],
  ]);
  const walletNumber = writes.at(-1)?.number ?? after.walletNumber;
  return {
    events: [...journal.events, ...writes.map((write) => ({ type: "wallet", write }) as const)],
    place: { ...journal.place, walletNumber },
  };
}

async function readWalletWrites(
  connection: Connection,
  ledgerId: string,
  { walletNumber }: DeliveryPlace,
  upTo: DeliveryPlace,
): Promise<readonly OrderedWalletWrite[]> {
  if (upTo.walletNumber <= walletNumber) return [];
  const writes = await listOrderedWrites(connection, ledgerId, {
    ...{ afterNumber: walletNumber, upToNumber: upTo.walletNumber },
    ...{ limit: walletWritesMax, bytesMax: walletBytesMax },
  });
  const numbers = writes.map(({ number }) => number);
  assert(isWithoutGap(walletNumber, numbers), "the order of wallet writes has no gap");
  return writes;
}

/** Whether there is anything behind a place, and nothing left out. Better nothing than that: a receiver could not know. */
function isWithoutGap(after: number, numbers: readonly number[]): boolean {
  return numbers.length > 0 && numbers.every((number, index) => number === after + index + 1);
}

async function readJournalEvents(
  connection: Connection,
  ledgerId: string,
  kinds: readonly DeliveryEventKind[],
  after: JournalPlace,
  upTo: JournalPlace,
): Promise<{ readonly events: readonly JournalEvent[]; readonly place: JournalPlace }> {
  const hasEntries = kinds.includes("entry") || kinds.includes("posting");
  const entries =
    hasEntries && upTo.sequence > after.sequence
      ? await readEntries(connection, ledgerId, after.sequence, upTo.sequence)
      : [];
  const lastRead = entries.at(-1)?.sequence ?? upTo.sequence;
  const page = { afterNumber: after.closeNumber, limit: closesMax };
  const closes = (
    upTo.closeNumber > after.closeNumber ? await listCloses(connection, ledgerId, page) : []
  ).filter(({ number, lastSequence }) => number <= upTo.closeNumber && lastSequence <= lastRead);
  // There may be more of them before the entries that follow.
  const isCut = closes.length === closesMax;
  const sequence = isCut ? (closes.at(-1)?.lastSequence ?? lastRead) : lastRead;
  const taken = entries.filter((entry) => entry.sequence <= sequence);
  const postings = kinds.includes("posting")
    ? await listWalletPostings(
        connection,
        ledgerId,
        taken.map(({ journalId }) => journalId),
      )
    : [];
  const events = inOrder(after, taken, closes, { kinds, postings: new Set(postings) });
  const place = {
    sequence: Math.max(sequence, after.sequence),
    closeNumber: closes.at(-1)?.number ?? after.closeNumber,
  };
  return { events, place };
}

async function readEntries(
  connection: Connection,
  ledgerId: string,
  afterSequence: number,
  upToSequence: number,
): Promise<readonly StoredEntry[]> {
  const page = { filter: everyEntry, afterSequence, upToSequence, offset: 0 };
  const limits = { limit: entriesMax, bytesMax };
  const { entries } = await listEntries(connection, ledgerId, { ...page, ...limits });
  // A database that was promoted meanwhile may lack what the last one had.
  const sequences = entries.map(({ sequence }) => sequence);
  assert(isWithoutGap(afterSequence, sequences), "a journal has no gap");
  return entries;
}

function inOrder(
  after: JournalPlace,
  entries: readonly StoredEntry[],
  closes: readonly CloseRecord[],
  { kinds, postings }: { kinds: readonly DeliveryEventKind[]; postings: ReadonlySet<string> },
): JournalEvent[] {
  const events: JournalEvent[] = [];
  let { sequence, closeNumber } = after;
  const waiting = [...closes];
  const takeCloses = (upToSequence: number) => {
    while (waiting[0] !== undefined && waiting[0].lastSequence <= upToSequence) {
      const [close] = waiting.splice(0, 1) as [CloseRecord];
      closeNumber = close.number;
      if (kinds.includes("close")) {
        events.push({ type: "close", close, place: { sequence, closeNumber } });
      }
    }
  };
  for (const entry of entries) {
    takeCloses(entry.sequence - 1);
    ({ sequence } = entry);
    const place = { sequence, closeNumber };
    if (kinds.includes("entry")) events.push({ type: "entry", entry, place });
    if (postings.has(entry.journalId)) events.push({ type: "posting", entry, place });
  }
  takeCloses(Infinity);
  return events;
}
