// The statements of closes, as the simulated database carries them out.
import { TrialBalance, type CloseRecord } from "../../../../src/core/close.ts";
import {
  countEntriesByMonth,
  measureSpan,
  readLeaves,
  sumTrialBalance,
} from "../../../../src/store/journal-spans.ts";
import {
  findCloseOfPeriod,
  findLastClose,
  insertClose,
  listClosedPeriods,
} from "../../../../src/store/period-closes.ts";
import { groupBy } from "../../model/final-books.ts";
import type { Execution } from "../execution.ts";
import type { Handlers, Parameters } from "../handler.ts";
import { text, time, timeOrNull, unnest } from "../parameters.ts";
import type { JournalEntryRow } from "../tables.ts";
import { aClose, anId, anyTime } from "./sample.ts";

export function addCloseStatements(handlers: Handlers): void {
  addRecords(handlers);
  addInserts(handlers);
  addSpans(handlers);
}

/** By number. */
function closesOf(db: Execution, ledgerId: string | null | undefined): CloseRecord[] {
  return db
    .filter(db.tables.periodCloses, (close) => close.ledgerId === ledgerId)
    .sort((one, other) => one.number - other.number);
}

function addRecords(handlers: Handlers): void {
  handlers.add(
    (connection) => findCloseOfPeriod(connection, anId, "2026"),
    (db, [ledgerId, periodId]) =>
      closesOf(db, ledgerId).filter((close) => close.periodId === periodId),
  );
  handlers.add(
    (connection) => findLastClose(connection, anId),
    (db, [ledgerId]) => closesOf(db, ledgerId).slice(-1),
  );
  handlers.add(
    (connection) => listClosedPeriods(connection, anId, 0),
    (db, [ledgerId, fromNumber]) => {
      const inOrder = db.find(db.tables.ledgers, { ledgerId: text(ledgerId) })?.closesInOrder;
      return closesOf(db, ledgerId)
        .filter(({ number }) => number >= Number(fromNumber))
        .map(({ periodId, closeId, startsAt, endsAt }) => ({
          periodId,
          closeId,
          startsAt: inOrder === true ? null : startsAt,
          endsAt,
        }));
    },
  );
}

function addInserts(handlers: Handlers): void {
  handlers.add(
    (connection) => insertClose(connection, aClose, [], []),
    function* (db, parameters) {
      yield* db.insert(db.tables.periodCloses, closeRow(parameters));
      return [];
    },
    function* (db, [ledgerId, number, ...columns]) {
      for (const [code, opening, debits, credits, closing, entryCount] of unnest(...columns)) {
        yield* db.insert(db.tables.closeBalances, {
          ledgerId: text(ledgerId),
          number: Number(number),
          glAccountCode: text(code),
          opening: BigInt(text(opening)),
          debits: BigInt(text(debits)),
          credits: BigInt(text(credits)),
          closing: BigInt(text(closing)),
          entryCount: Number(entryCount),
        });
      }
      return [];
    },
    function* (db, [ledgerId, number, ...columns]) {
      for (const [part, firstSequence, root] of unnest(...columns)) {
        yield* db.insert(db.tables.closeSubtrees, {
          ledgerId: text(ledgerId),
          number: Number(number),
          part: Number(part),
          firstSequence: Number(firstSequence),
          root: text(root),
        });
      }
      return [];
    },
  );
}

function closeRow(parameters: Parameters): CloseRecord {
  const [ledgerId, closeId, number, periodId, reason, startsAt, endsAt, ...rest] = parameters;
  const [closedAt, lastSequence, entryCount, merkleRoot, merkleAlgorithm, ...hashes] = rest;
  const [balancesRoot, previousCloseHash, closeHash] = hashes;
  return {
    ledgerId: text(ledgerId),
    closeId: text(closeId),
    number: Number(number),
    periodId: text(periodId),
    reason: reason ?? null,
    startsAt: timeOrNull(startsAt),
    endsAt: time(endsAt),
    closedAt: time(closedAt),
    lastSequence: Number(lastSequence),
    entryCount: Number(entryCount),
    merkleRoot: text(merkleRoot),
    merkleAlgorithm: text(merkleAlgorithm),
    balancesRoot: text(balancesRoot),
    previousCloseHash: previousCloseHash ?? null,
    closeHash: text(closeHash),
  };
}

/** `-infinity` comes before all times. */
function isFrom(date: string, startsAt: string): boolean {
  return startsAt === "-infinity" || date >= startsAt;
}

interface Span {
  readonly ledgerId: string;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly after: number;
  readonly upTo: number;
}

/** By sequence. */
function entriesIn(db: Execution, span: Span): JournalEntryRow[] {
  const { ledgerId, startsAt, endsAt, after, upTo } = span;
  return db
    .filter(
      db.tables.journalEntries,
      ({ sequence, transactionDate, ledgerId: of }) =>
        of === ledgerId &&
        sequence > after &&
        sequence <= upTo &&
        isFrom(transactionDate, startsAt) &&
        transactionDate < endsAt,
    )
    .sort((one, other) => one.sequence - other.sequence);
}

const anySpan = { startsAt: anyTime, endsAt: anyTime, afterSequence: 0, upToSequence: 1 };

function addSpans(handlers: Handlers): void {
  handlers.add(
    (connection) => measureSpan(connection, anId, anySpan),
    (db, [ledgerId, startsAt, endsAt, after, upTo]) => {
      const entries = entriesIn(db, {
        ledgerId: text(ledgerId),
        startsAt: text(startsAt),
        endsAt: text(endsAt),
        after: Number(after),
        upTo: Number(upTo),
      });
      const firstSequence = entries[0]?.sequence ?? 0;
      const lastSequence = entries.at(-1)?.sequence ?? 0;
      return [{ count: entries.length, firstSequence, lastSequence }];
    },
  );
  handlers.add(
    (connection) => readLeaves(connection, anId, anySpan, 1),
    (db, [ledgerId, after, upTo, startsAt, endsAt, limit]) => {
      const entries = entriesIn(db, {
        ledgerId: text(ledgerId),
        startsAt: text(startsAt),
        endsAt: text(endsAt),
        after: Number(after),
        upTo: Number(upTo),
      }).slice(0, Number(limit));
      if (entries.length === 0) return [{ leaves: null, sequences: null }];
      const leaves = Buffer.concat(entries.map(({ leaf }) => Buffer.from(leaf, "hex")));
      return [{ leaves, sequences: entries.map(({ sequence }) => sequence).join(" ") }];
    },
  );
  handlers.add((connection) => sumTrialBalance(connection, anId, anySpan), trialBalance);
  handlers.add(
    (connection) => countEntriesByMonth(connection, anId, [anySpan], anySpan),
    entriesByMonth,
  );
}

function trialBalance(db: Execution, parameters: Parameters): readonly object[] {
  const [startsAt, , , , ledgerId, openingFrom, endsAt, after, upTo] = parameters;
  const entries = entriesIn(db, {
    ledgerId: text(ledgerId),
    startsAt: text(openingFrom),
    endsAt: text(endsAt),
    after: Number(after),
    upTo: Number(upTo),
  });
  const linesOf = groupBy(
    db.filter(db.tables.journalLines, (line) => line.ledgerId === ledgerId),
    ({ sequence }) => String(sequence),
  );
  const balance = new TrialBalance();
  for (const entry of entries) {
    const lines = linesOf.get(String(entry.sequence)) ?? [];
    if (isFrom(entry.transactionDate, text(startsAt))) balance.addEntry(lines);
    else balance.addOpening(lines);
  }
  return balance.rows();
}

function entriesByMonth(db: Execution, parameters: Parameters): readonly object[] {
  const [starts, ends, ledgerId, after, upTo] = parameters;
  const counts = new Map<string, number>();
  for (const [startsAt, endsAt] of unnest(starts, ends)) {
    const entries = entriesIn(db, {
      ledgerId: text(ledgerId),
      startsAt: text(startsAt),
      endsAt: text(endsAt),
      after: Number(after),
      upTo: Number(upTo),
    });
    for (const { transactionDate } of entries) {
      const month = transactionDate.slice(0, 7);
      counts.set(month, (counts.get(month) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([month, entryCount]) => ({ month, entryCount }));
}
