// The statements of closes, as the simulated database carries them out.
import { TrialBalance, type CloseRecord } from "../../../../src/core/close.ts";
import { countEntries, everyEntry } from "../../../../src/store/entry-lists.ts";
import {
  countEntriesByMonth,
  divideSpan,
  readLeaves,
  sumAmounts,
  sumAllMovements,
  sumMovements,
  sumTrialBalance,
} from "../../../../src/store/journal-spans.ts";
import {
  findCloseBefore,
  findCloseOfPeriod,
  findLastClose,
  insertClose,
  listCloseBalances,
  listClosedPeriods,
} from "../../../../src/store/period-closes.ts";
import { compareUtf8 } from "../../../../src/core/text.ts";
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
    (connection) => findCloseBefore(connection, anId, anyTime, 1),
    (db, [ledgerId, moment, upToSequence]) =>
      closesOf(db, ledgerId)
        .filter(
          ({ endsAt, lastSequence }) =>
            endsAt <= text(moment) && lastSequence <= Number(upToSequence),
        )
        // By number they are already.
        .sort((one, other) => compareUtf8(one.endsAt, other.endsAt))
        .slice(-1),
  );
  handlers.add(
    (connection) => listCloseBalances(connection, aClose),
    (db, [ledgerId, number]) =>
      db
        .filter(
          db.tables.closeBalances,
          (row) => row.ledgerId === ledgerId && row.number === Number(number),
        )
        .sort((one, other) => compareUtf8(one.glAccountCode, other.glAccountCode))
        .map(({ glAccountCode, opening, debits, credits, closing, entryCount }) => ({
          ...{ glAccountCode, opening, debits, credits, closing, entryCount },
        })),
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
    function* (db, [number, ledgerId, ...columns]) {
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
    function* (db, [number, ledgerId, ...columns]) {
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

const anyDates = { ...everyEntry, from: anyTime, to: anyTime };
const anySpan = { startsAt: anyTime, endsAt: anyTime, afterSequence: 0, upToSequence: 1 };

function addSpans(handlers: Handlers): void {
  handlers.add(
    (connection) => countEntries(connection, anId, anyDates, anySpan),
    (db, [ledgerId, after, upTo, startsAt, endsAt]) => {
      const entries = entriesIn(db, {
        ledgerId: text(ledgerId),
        startsAt: text(startsAt),
        endsAt: text(endsAt),
        after: Number(after),
        upTo: Number(upTo),
      });
      return [{ count: entries.length }];
    },
  );
  handlers.add(
    (connection) => readLeaves(connection, anId, anySpan),
    (db, [ledgerId, after, upTo, startsAt, endsAt]) => {
      const entries = entriesIn(db, {
        ledgerId: text(ledgerId),
        startsAt: text(startsAt),
        endsAt: text(endsAt),
        after: Number(after),
        upTo: Number(upTo),
      });
      if (entries.length === 0) return [{ leaves: null, sequences: null }];
      const leaves = Buffer.concat(entries.map(({ leaf }) => Buffer.from(leaf, "hex")));
      return [{ leaves, sequences: entries.map(({ sequence }) => sequence).join(" ") }];
    },
  );
  handlers.add((connection) => divideSpan(connection, anId, anySpan, 2), entriesBySequence);
  handlers.add((connection) => sumTrialBalance(connection, anId, anySpan), trialBalance);
  handlers.add(
    (connection) => sumMovements(connection, anId, anySpan),
    (db, [ledgerId, after, upTo, , , , startsAt, endsAt]) =>
      sumUp(db, { ledgerId, startsAt, endsAt, after, upTo }).rows(),
  );
  handlers.add((connection) => sumAllMovements(connection, anId, anySpan), movementsOfLines);
  handlers.add(
    (connection) => sumAmounts(connection, anId, anySpan),
    (db, [ledgerId, startsAt, endsAt, after, upTo]) =>
      sumUp(db, { ledgerId, startsAt, endsAt, after, upTo })
        .rows()
        .map(({ glAccountCode, closing }) => ({ glAccountCode, functionalAmount: closing })),
  );
  handlers.add(
    (connection) => countEntriesByMonth(connection, anId, [anySpan], anySpan),
    entriesByMonth,
  );
}

function entriesBySequence(db: Execution, parameters: Parameters): readonly object[] {
  const [ledgerId, startsAt, endsAt, after, upTo, length] = parameters;
  const pieces = new Map<number, number[]>();
  for (const { sequence } of entriesIn(db, {
    ledgerId: text(ledgerId),
    startsAt: text(startsAt),
    endsAt: text(endsAt),
    after: Number(after),
    upTo: Number(upTo),
  })) {
    const number = Math.ceil(sequence / Number(length));
    pieces.set(number, [...(pieces.get(number) ?? []), sequence]);
  }
  return [...pieces.values()].map((sequences) => ({
    firstSequence: sequences[0],
    lastSequence: sequences.at(-1),
    entryCount: sequences.length,
  }));
}

function trialBalance(db: Execution, parameters: Parameters): readonly object[] {
  const [startsAt, , , , , ledgerId, openingFrom, endsAt, after, upTo] = parameters;
  const span = { ledgerId, startsAt: openingFrom, endsAt, after, upTo };
  return sumUp(db, span, (date) => isFrom(date, text(startsAt))).rows();
}

/** Of lines alone: whether they have entries is not asked. */
function movementsOfLines(db: Execution, [ledgerId, after, upTo]: Parameters): readonly object[] {
  const lines = db.filter(
    db.tables.journalLines,
    ({ ledgerId: of, sequence }) =>
      of === ledgerId && sequence > Number(after) && sequence <= Number(upTo),
  );
  const balance = new TrialBalance();
  for (const own of groupBy(lines, ({ sequence }) => String(sequence)).values()) {
    balance.addEntry(own);
  }
  return balance.rows();
}

/** The trial balance over the entries of a span, as its parameters name it. */
function sumUp(
  db: Execution,
  span: Readonly<Record<keyof Span, Parameters[number] | undefined>>,
  isWithin: (date: string) => boolean = () => true,
): TrialBalance {
  const entries = entriesIn(db, {
    ledgerId: text(span.ledgerId),
    startsAt: text(span.startsAt),
    endsAt: text(span.endsAt),
    after: Number(span.after),
    upTo: Number(span.upTo),
  });
  const linesOf = groupBy(
    db.filter(db.tables.journalLines, (line) => line.ledgerId === span.ledgerId),
    ({ sequence }) => String(sequence),
  );
  const balance = new TrialBalance();
  for (const entry of entries) {
    const lines = linesOf.get(String(entry.sequence)) ?? [];
    if (isWithin(entry.transactionDate)) balance.addEntry(lines);
    else balance.addOpening(lines);
  }
  return balance;
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
