// Where in a journal a page of a filtered list begins and ends: found by the spans in which entries are summed.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { Connection } from "./database/connection.ts";
import type { EntryFilter } from "./entry-lists.ts";
import { sql } from "./database/statement.ts";
import { splitByDays } from "./whole-days.ts";

/** A page of a list: so many entries that pass the filter, after a sequence and after so many others that pass it. */
export interface PagePlace {
  readonly afterSequence: number;
  readonly offset: number;
  readonly limit: number;
}

const placeRow = z.object({
  /** Of the first entry, in the first span that has some of the page; null where no span has. */
  firstSequence: z.number().nullable(),
  /** Entries in the spans before it. */
  skipped: z.number(),
  /** Where the span ends that has the page's last entry and the one after it; null where no span has. */
  endsAtSequence: z.number().nullable(),
});

/**
 * The part of the journal that has a page of a list, and at least one entry more that passes its filter, if there is one:
 * the page begins `offset` entries into it. `summedSequence` is of the same snapshot.
 */
export async function findPage(
  connection: Connection,
  ledgerId: string,
  filter: EntryFilter,
  page: PagePlace,
  summedSequence: number,
): Promise<{ afterSequence: number; offset: number; upToSequence: number | null }> {
  const { afterSequence, offset, limit } = page;
  if (isOfAccountAndDates(filter)) {
    const first = await findFirst(connection, ledgerId, filter, afterSequence);
    const from = first === null ? summedSequence : first - 1;
    return { afterSequence: Math.max(afterSequence, from), offset, upToSequence: null };
  }
  const { firstSequence, skipped, endsAtSequence } = await connection.one(sql.type(placeRow)`
    WITH places AS (
      SELECT ends_at_sequence, min(first_sequence) AS first_sequence,
             sum(entry_count)::bigint AS entry_count,
             (sum(sum(entry_count)) OVER (ORDER BY ends_at_sequence))::bigint AS through
        FROM (${spansOf(ledgerId, filter, afterSequence, summedSequence)}) AS spans
       GROUP BY ends_at_sequence
    ), first AS (
      SELECT * FROM places WHERE through > ${offset} ORDER BY ends_at_sequence LIMIT 1
    )
    SELECT (SELECT first_sequence FROM first) AS "firstSequence",
           coalesce((SELECT through - entry_count FROM first),
                    (SELECT max(through) FROM places), 0) AS skipped,
           (SELECT min(ends_at_sequence) FROM places
             WHERE through > ${offset + limit}
               -- Of the first span, only what comes after the sequence counts.
               + (SELECT CASE WHEN first_sequence > ${afterSequence} THEN 0 ELSE entry_count END
                    FROM first)) AS "endsAtSequence"`);
  const from = firstSequence === null ? summedSequence : firstSequence - 1;
  return {
    afterSequence: Math.max(afterSequence, from),
    offset: offset - skipped,
    upToSequence: endsAtSequence,
  };
}

interface AccountAndDates extends EntryFilter {
  readonly glAccountCode: string;
}

function isOfAccountAndDates(filter: EntryFilter): filter is AccountAndDates {
  return filter.glAccountCode !== null && (filter.from !== null || filter.to !== null);
}

const firstRow = z.object({ firstSequence: z.number().nullable() });

/** No entry after a sequence that passes the filter comes before this; null where no span has any. */
async function findFirst(
  connection: Connection,
  ledgerId: string,
  { from, to, glAccountCode }: AccountAndDates,
  afterSequence: number,
): Promise<number | null> {
  // How many entries of a day are of the account is not kept: the page is looked for from here on.
  const { firstSequence } = await connection.one(sql.type(firstRow)`
    SELECT min(greatest(accounts.first_sequence, days.first_sequence)) AS "firstSequence"
      FROM account_spans AS accounts
      JOIN day_spans AS days
        ON days.ledger_id = ${ledgerId} AND days.ends_at_sequence = accounts.ends_at_sequence
       AND days.day >= ${from?.slice(0, 10) ?? "-infinity"}::date
       AND days.day <= ${to?.slice(0, 10) ?? "infinity"}::date
     WHERE accounts.ledger_id = ${ledgerId} AND accounts.gl_account_code = ${glAccountCode}
       AND accounts.ends_at_sequence > ${afterSequence}`);
  return firstSequence;
}

/** The spans after a sequence with entries of an account, or of an interval of dates. */
function spansOf(
  ledgerId: string,
  { from, to, glAccountCode }: EntryFilter,
  afterSequence: number,
  summedSequence: number,
): FragmentSqlToken {
  if (glAccountCode !== null) {
    return sql.fragment`
      SELECT ends_at_sequence, first_sequence, entry_count FROM account_spans
       WHERE ledger_id = ${ledgerId} AND gl_account_code = ${glAccountCode}
         AND ends_at_sequence > ${afterSequence}`;
  }
  const { days, parts } = splitByDays({ startsAt: from, endsAt: to });
  const ofDays = sql.fragment`
    SELECT ends_at_sequence, first_sequence, entry_count FROM day_spans
     WHERE ledger_id = ${ledgerId} AND day >= ${days.fromDay}::date AND day < ${days.untilDay}::date
       AND ends_at_sequence > ${afterSequence}`;
  // Of a day that is cut, entries are counted in the spans that the whole day has.
  const ofParts = parts.map(
    ({ day, startsAt, endsAt }) => sql.fragment`
      SELECT spans.ends_at_sequence, min(entries.sequence), count(*)
        FROM journal_entries AS entries
        CROSS JOIN LATERAL (
          SELECT ends_at_sequence FROM day_spans
           WHERE ledger_id = ${ledgerId} AND day = ${day}::date
             AND ends_at_sequence >= entries.sequence
           ORDER BY ends_at_sequence LIMIT 1
        ) AS spans
       WHERE entries.ledger_id = ${ledgerId} AND entries.sequence <= ${summedSequence}
         AND entries.transaction_date >= ${startsAt ?? "-infinity"}
         AND entries.transaction_date < ${endsAt ?? "infinity"}
         AND spans.ends_at_sequence > ${afterSequence}
       GROUP BY spans.ends_at_sequence`,
  );
  return sql.fragment`${sql.join([ofDays, ...ofParts], sql.fragment` UNION ALL `)}`;
}
