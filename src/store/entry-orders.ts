// Sequences of entries in other orders than the journal's: by date, and the latest first.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { Timestamp } from "../core/time.ts";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";
import { entriesIn, wholeEntriesIn, type EntryFilter } from "./entry-lists.ts";
import type { SequenceRange } from "./journal-spans.ts";
import { placesOn, type RegisterReach } from "./registers.ts";
import type { DayRange } from "./whole-days.ts";

const dayRow = z.object({ day: z.string(), entryCount: z.number() });

/** How many entries are dated on a day, in UTC: `2026-03-31`. */
export type DayCount = Readonly<z.output<typeof dayRow>>;

/** How many entries are dated on each of some days, and of an account (null: of all); in what is summed. */
export function listDayCounts(
  connection: Connection,
  ledgerId: string,
  glAccountCode: string | null,
  { fromDay, untilDay }: DayRange,
): Promise<readonly DayCount[]> {
  const isWithin = sql.fragment`
    ledger_id = ${ledgerId} AND day >= ${fromDay}::date AND day < ${untilDay}::date`;
  const sums =
    glAccountCode === null
      ? sql.fragment`journal_days WHERE ${isWithin}`
      : sql.fragment`account_days WHERE ${isWithin} AND gl_account_code = ${glAccountCode}`;
  return connection.any(sql.type(dayRow)`
    SELECT day::text AS day, sum(entry_count)::bigint AS "entryCount" FROM ${sums} GROUP BY day`);
}

/** How many entries that pass a filter are dated on each day, of those in a range of sequences, one by one. */
export function countEntriesByDay(
  connection: Connection,
  ledgerId: string,
  filter: EntryFilter,
  span: SequenceRange,
): Promise<readonly DayCount[]> {
  return connection.any(sql.type(dayRow)`
    SELECT (entries.transaction_date AT TIME ZONE 'UTC')::date::text AS day, count(*) AS "entryCount"
      ${wholeEntriesIn(ledgerId, filter, span)} GROUP BY 1`);
}

const sequenceRow = z.object({ sequence: z.number() });

/** A page of what a statement finds: so many are skipped of those that it has in its order. */
interface SequencePage {
  readonly direction: "asc" | "desc";
  readonly offset: number;
  readonly limit: number;
}

/** The sequences of entries that are dated in an interval, and of an account (null: of all), by date. */
export async function listSequencesByDate(
  connection: Connection,
  ledgerId: string,
  glAccountCode: string | null,
  { from, to }: { readonly from: Timestamp; readonly to: Timestamp | null },
  reach: RegisterReach,
  { direction, offset, limit }: SequencePage,
): Promise<number[]> {
  const subject = { glAccountCode: glAccountCode ?? "", currency: null };
  const days = {
    fromDay: from.slice(0, 10),
    lastDay: sql.fragment`${to?.slice(0, 10) ?? "infinity"}::date`,
  };
  const dated =
    glAccountCode === null
      ? sql.fragment`
        SELECT transaction_date, sequence FROM journal_entries
         WHERE ledger_id = ${ledgerId} AND sequence <= ${reach.upToSequence}`
      : sql.fragment`
        SELECT DISTINCT transaction_date, sequence
          FROM (${placesOn(ledgerId, subject, reach, days)}) AS places WHERE true`;
  const rows = await connection.any(sql.type(sequenceRow)`
    SELECT sequence
      FROM (${dated} AND transaction_date >= ${from} AND transaction_date < ${to ?? "infinity"}) AS dated
     ORDER BY transaction_date ${directionOf(direction)}, sequence ${directionOf(direction)}
     LIMIT ${limit} OFFSET ${offset}`);
  return rows.map(({ sequence }) => sequence);
}

/** The sequences of entries that pass a filter, in a range of sequences, by sequence. */
export async function listSequences(
  connection: Connection,
  ledgerId: string,
  filter: EntryFilter,
  range: SequenceRange,
  { direction, offset, limit }: SequencePage,
): Promise<number[]> {
  const rows = await connection.any(sql.type(sequenceRow)`
    SELECT entries.sequence ${entriesIn(ledgerId, filter, range)}
     ORDER BY entries.sequence ${directionOf(direction)} LIMIT ${limit} OFFSET ${offset}`);
  return rows.map(({ sequence }) => sequence);
}

function directionOf(direction: "asc" | "desc"): FragmentSqlToken {
  return direction === "asc" ? sql.fragment`ASC` : sql.fragment`DESC`;
}
