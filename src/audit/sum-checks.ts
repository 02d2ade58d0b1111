// Checks of sums by day and of registers, beside the entries that are read anyway. They tell whether a table is as the entries
// have it, in memory that does not grow with it; which rows are not, the database is asked where there are any.
import { createHash, randomBytes } from "node:crypto";
import type { Connection } from "../store/database/connection.ts";
import {
  readAuditedAccountDays,
  readAuditedRegisterDays,
  type SumReach,
} from "../store/audit/day-sums.ts";
import type { AuditedEntry } from "../store/audit/journal.ts";
import type { EntryCheck } from "./entry-checks.ts";
import { RowFingerprint } from "./row-fingerprint.ts";

/** A check of a table that is compared as a whole. */
export interface SumCheck extends EntryCheck {
  /** When it is finished: whether some row of the table is not what the entries come to. */
  readonly isDifferent: boolean;
}

/** What is gathered by account and currency before it is added to a fingerprint. */
class Gathered<Row> {
  readonly #make: () => Row;
  readonly #rows = new Map<string, Map<string, Map<string, Row>>>();
  size = 0;

  constructor(make: () => Row) {
    this.#make = make;
  }

  /** The row of a group of entries, an account and a currency. */
  of(group: string, glAccountCode: string, currency: string): Row {
    const byAccount = this.#rows.get(group) ?? new Map<string, Map<string, Row>>();
    if (byAccount.size === 0) this.#rows.set(group, byAccount);
    const byCurrency = byAccount.get(glAccountCode) ?? new Map<string, Row>();
    if (byCurrency.size === 0) byAccount.set(glAccountCode, byCurrency);
    const row = byCurrency.get(currency);
    if (row !== undefined) return row;
    const made = this.#make();
    byCurrency.set(currency, made);
    this.size += 1;
    return made;
  }

  /** Gives each row with its names, and begins anew. */
  takeEach(take: (group: string, glAccountCode: string, currency: string, row: Row) => void): void {
    for (const [group, byAccount] of this.#rows) {
      for (const [glAccountCode, byCurrency] of byAccount) {
        for (const [currency, row] of byCurrency) take(group, glAccountCode, currency, row);
      }
    }
    this.#rows.clear();
    this.size = 0;
  }
}

/** The table's figures, in the order of its columns. */
interface AccountDay {
  debits: bigint;
  credits: bigint;
  functionalDebits: bigint;
  functionalCredits: bigint;
  entryCount: number;
}

const gatheredMax = 10_000;

/**
 * Figures of so many digits a fingerprint can tell apart, also where they are added up from parts. A line of ours has no more;
 * longer ones are left to the database.
 */
const digitsMax = 38;
const shortFigure = new RegExp(`^-?\\d{1,${digitsMax}}$`);
const figureEnd = 10n ** BigInt(digitsMax);

/** The sums of accounts by day: those of the lines of all entries up to what is summed. */
export function accountDayCheck(
  connection: Connection,
  ledgerId: string,
  { summedSequence }: SumReach,
): SumCheck {
  const key = randomBytes(32);
  const due = new RowFingerprint(key, 5);
  const stored = new RowFingerprint(key, 5);
  const gathered = new Gathered<AccountDay>(() => ({
    ...{ debits: 0n, credits: 0n, functionalDebits: 0n, functionalCredits: 0n, entryCount: 0 },
  }));
  /** By account: an entry is counted with the first of its lines. */
  const countedFor = new Map<string, number>();
  let isDifferent = false;
  const flush = () => {
    gathered.takeEach((group, glAccountCode, currency, row) => {
      const sums = [row.debits, row.credits, row.functionalDebits, row.functionalCredits];
      if (sums.some((sum) => sum <= -figureEnd || sum >= figureEnd)) isDifferent = true;
      const name = JSON.stringify([group, glAccountCode, currency]);
      due.add(name, [...sums, BigInt(row.entryCount)]);
    });
  };
  return {
    get isDifferent() {
      return isDifferent;
    },
    add({ entry, isClosing }) {
      if (entry.sequence < 1 || entry.sequence > summedSequence) return;
      // The reversal of an entry that is not there belongs to no row.
      if (isClosing === null) isDifferent = true;
      const group = groupOf(entry.transactionDate.slice(0, 10), isClosing === true);
      for (const line of entry.lines) {
        const { glAccountCode, transactionAmount, functionalAmount } = line;
        const row = gathered.of(group, glAccountCode, line.transactionCurrency);
        if (transactionAmount > 0n) row.debits += transactionAmount;
        else row.credits += transactionAmount;
        if (functionalAmount > 0n) row.functionalDebits += functionalAmount;
        else row.functionalCredits += functionalAmount;
        if (countedFor.get(glAccountCode) === entry.sequence) continue;
        countedFor.set(glAccountCode, entry.sequence);
        row.entryCount += 1;
      }
      if (gathered.size > gatheredMax) flush();
    },
    async finish() {
      flush();
      for await (const page of readAuditedAccountDays(connection, ledgerId)) {
        for (const { day, isClosing, glAccountCode, currency, figures } of page) {
          // Of what is no number, too long, or nothing but zeros, a fingerprint would not tell.
          const isSound = figures.every((figure) => shortFigure.test(figure));
          if (!isSound || figures.every((figure) => figure === "0")) isDifferent = true;
          if (!isSound) continue;
          const name = JSON.stringify([groupOf(day, isClosing), glAccountCode, currency]);
          stored.add(name, figures.map(BigInt));
        }
      }
      isDifferent ||= !due.equals(stored);
    },
  };
}

function groupOf(day: string, isClosing: boolean): string {
  return isClosing ? `${day} CLOSING` : day;
}

/** The lines of an account's day, as they are read. */
interface RegisterDay {
  readonly dates: string[];
  /** As the database prints them in an array. */
  readonly storedDates: string[];
  readonly sequences: number[];
  readonly lineNumbers: number[];
  entryCount: number;
}

/** Lines that are held at most. A span has fewer, unless its entries are very long. */
const linesMax = 250_000;

/** The registers of accounts by day: the lines of each span. */
export function registerDayCheck(
  connection: Connection,
  ledgerId: string,
  { registerEnds }: SumReach,
): SumCheck {
  const key = randomBytes(32);
  const due = new RowFingerprint(key, 1);
  const stored = new RowFingerprint(key, 1);
  const gathered = new Gathered<RegisterDay>(() => ({
    ...{ dates: [], storedDates: [], sequences: [], lineNumbers: [], entryCount: 0 },
  }));
  let isDifferent = false;
  let spanIndex = 0;
  let lineCount = 0;
  const flush = (endsAtSequence: number) => {
    lineCount = 0;
    gathered.takeEach((day, glAccountCode, currency, row) => {
      const names = [day, glAccountCode, currency, String(endsAtSequence)];
      const counts = [row.sequences.length, row.entryCount];
      due.add(JSON.stringify([...names, ...counts, linesHashOf(row)]), [1n]);
    });
  };
  const gather = ({ entry, lineNumbers, storedTransactionDate }: AuditedEntry) => {
    const day = entry.transactionDate.slice(0, 10);
    const storedDate = `"${storedTransactionDate}"`;
    entry.lines.forEach(({ glAccountCode, transactionCurrency }, index) => {
      const row = gathered.of(day, glAccountCode, transactionCurrency);
      if (row.sequences.at(-1) !== entry.sequence) row.entryCount += 1;
      row.dates.push(entry.transactionDate);
      row.storedDates.push(storedDate);
      row.sequences.push(entry.sequence);
      row.lineNumbers.push(lineNumbers[index] ?? 0);
    });
    lineCount += entry.lines.length;
  };
  return {
    get isDifferent() {
      return isDifferent;
    },
    add(audited) {
      const { sequence } = audited.entry;
      if (sequence < 1 || isDifferent) return;
      for (;;) {
        const endsAtSequence = registerEnds[spanIndex];
        if (endsAtSequence === undefined) return;
        if (sequence <= endsAtSequence) break;
        flush(endsAtSequence);
        spanIndex += 1;
      }
      gather(audited);
      // Such a span is left to the database.
      if (lineCount > linesMax) isDifferent = true;
    },
    async finish() {
      const endsAtSequence = registerEnds[spanIndex];
      if (endsAtSequence !== undefined) flush(endsAtSequence);
      if (isDifferent) return;
      for await (const page of readAuditedRegisterDays(connection, ledgerId)) {
        for (const row of page) {
          const names = [row.day, row.glAccountCode, row.currency, row.endsAtSequence];
          const counts = [row.lineCount, row.entryCount];
          stored.add(JSON.stringify([...names, ...counts, row.linesHash]), [1n]);
        }
      }
      isDifferent = !due.equals(stored);
    },
  };
}

/** As `readAuditedRegisterDays` hashes them: by transaction date, and those of one moment as they were read. */
function linesHashOf({ dates, storedDates, sequences, lineNumbers }: RegisterDay): string {
  const order = orderOf(dates);
  const arrayOf = (values: readonly (string | number)[]) =>
    `{${(order === null ? values : order.map((index) => values[index])).join(",")}}`;
  const text = `${arrayOf(storedDates)}\n${arrayOf(sequences)}\n${arrayOf(lineNumbers)}`;
  return createHash("sha256").update(text).digest("hex");
}

/** The places of the earliest, the next and so on; null where they are in order. */
function orderOf(dates: readonly string[]): number[] | null {
  let last = "";
  let isInOrder = true;
  for (const date of dates) {
    isInOrder &&= date >= last;
    last = date;
  }
  if (isInOrder) return null;
  return Array.from(dates.keys()).sort((a, b) => {
    const [first = "", second = ""] = [dates[a], dates[b]];
    if (first === second) return a - b;
    return first < second ? -1 : 1;
  });
}
