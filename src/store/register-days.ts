// The lines of accounts in the order of their registers, day by day and span by span of the journal: derived from entries and
// lines, and added to in the background.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";
import { entryDay, isIn, type SpanBounds } from "./day-sums.ts";
import { linesOf } from "./journal-entries.ts";
import type { SequenceRange } from "./journal-spans.ts";

const spanRow = z.object({ endsAtSequence: z.number() });

/** Where the last span ends that is in registers and goes no further than a sequence; 0 where there is none. */
export async function findRegisteredSequence(
  connection: Connection,
  ledgerId: string,
  upToSequence: number,
): Promise<number> {
  const row = await connection.maybeOne(sql.type(spanRow)`
    SELECT ends_at_sequence AS "endsAtSequence" FROM register_spans
     WHERE ledger_id = ${ledgerId} AND ends_at_sequence <= ${upToSequence}
     ORDER BY ends_at_sequence DESC LIMIT 1`);
  return row?.endsAtSequence ?? 0;
}

const inOrder = sql.fragment`ORDER BY transaction_date, sequence, line_number`;

/** A query of the rows of `register_days` of one span, without their ledger. */
export function selectRegisterDays(ledgerId: string, span: SpanBounds): FragmentSqlToken {
  return sql.fragment`
    SELECT gl_account_code, day, currency, ${span.upToSequence}::bigint AS ends_at_sequence,
           count(*)::integer AS line_count, count(DISTINCT sequence)::integer AS entry_count,
           array_agg(transaction_date ${inOrder}) AS transaction_dates,
           array_agg(sequence ${inOrder}) AS sequences,
           array_agg(line_number ${inOrder}) AS line_numbers
      FROM (
        SELECT lines.gl_account_code, ${entryDay} AS day, lines.transaction_currency AS currency,
               entries.transaction_date, lines.sequence, lines.line_number
          FROM journal_entries AS entries
         CROSS JOIN LATERAL ${linesOf(ledgerId)} AS lines
         WHERE entries.ledger_id = ${ledgerId} AND ${isIn(sql.fragment`entries`, span)}
      ) AS registered
     GROUP BY gl_account_code, day, currency`;
}

/** Adds the entries after those that are in registers up to a later one, as one span; under the lock of the ledger's sums. */
export async function addRegisterSpan(
  connection: Connection,
  ledgerId: string,
  span: SequenceRange,
): Promise<void> {
  await Promise.all([
    connection.run(command`
      INSERT INTO register_days
        (ledger_id, gl_account_code, day, currency, ends_at_sequence, line_count, entry_count,
         transaction_dates, sequences, line_numbers)
      SELECT ledger.ledger_id, added.*
        FROM (SELECT ledger_id FROM summed_journals WHERE ledger_id = ${ledgerId}) AS ledger
        CROSS JOIN (${selectRegisterDays(ledgerId, span)}) AS added
       ORDER BY gl_account_code, day, currency`),
    connection.run(command`
      INSERT INTO register_spans (ledger_id, ends_at_sequence)
      VALUES (${ledgerId}, ${span.upToSequence})`),
    connection.run(command`
      UPDATE summed_journals SET registered_sequence = ${span.upToSequence}
       WHERE ledger_id = ${ledgerId}`),
  ]);
}
