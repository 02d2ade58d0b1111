// What a request names by a text: an entry or a close by its id, an account by its code, a period by its label.
import type { CloseRecord } from "../../core/close.ts";
import { Refusal, validationRefusal } from "../../core/errors.ts";
import type { StoredEntry } from "../../core/journal.ts";
import type { Account, LedgerIdentity } from "../../core/ledger.ts";
import { labelExamples, readPeriodLabel, type Period } from "../../core/period.ts";
import { labelCodePointsMax, parseUuid, quoted, textFault } from "../../core/text.ts";
import { findAccount } from "../../store/accounts.ts";
import type { Connection } from "../../store/database/connection.ts";
import { findEntry } from "../../store/journal-entries.ts";
import { findClose, findCloseOfPeriod } from "../../store/period-closes.ts";

/** The entry of an id, or `entryNotFound`. */
export async function requireEntry(
  connection: Connection,
  { ledgerId }: LedgerIdentity,
  entryIdText: string,
): Promise<StoredEntry> {
  const journalId = parseUuid(entryIdText);
  const entry = journalId === null ? null : await findEntry(connection, ledgerId, journalId);
  if (entry === null) {
    throw new Refusal("entryNotFound", `the ledger has no entry ${quoted(entryIdText)}`);
  }
  return entry;
}

/** The close of an id, or `closeNotFound`. */
export async function requireClose(
  connection: Connection,
  { ledgerId }: LedgerIdentity,
  closeIdText: string,
): Promise<CloseRecord> {
  const closeId = parseUuid(closeIdText);
  const close = closeId === null ? null : await findClose(connection, ledgerId, closeId);
  if (close === null) {
    throw new Refusal("closeNotFound", `the ledger has no close ${quoted(closeIdText)}`);
  }
  return close;
}

/** An account of the chart, or `accountNotFound`. */
export async function requireAccount(
  connection: Connection,
  { ledgerId }: LedgerIdentity,
  glAccountCode: string,
): Promise<Account> {
  // What no code can be is not looked for: the database takes no NUL.
  const isCode = textFault(glAccountCode, labelCodePointsMax) === null;
  const account = isCode ? await findAccount(connection, ledgerId, glAccountCode) : null;
  if (account !== null) return account;
  throw new Refusal("accountNotFound", `the ledger has no account ${quoted(glAccountCode)}`);
}

/** The period of a label: as it was closed, with that close, else what the label says; `closeNotFound` for others. */
export async function resolvePeriod(
  connection: Connection,
  ledgerId: string,
  periodId: string,
): Promise<Period & { readonly close: CloseRecord | null }> {
  const close = await findCloseOfPeriod(connection, ledgerId, periodId);
  if (close !== null) return { startsAt: close.startsAt, endsAt: close.endsAt, close };
  const meaning = readPeriodLabel(periodId);
  if (meaning === "toDate") {
    const forms = `periods of the calendar are written as ${labelExamples}`;
    const detail = `the ledger has closed no period ${quoted(periodId)}; ${forms}`;
    throw new Refusal("closeNotFound", detail);
  }
  if ("fault" in meaning) {
    throw validationRefusal([
      { parameter: "periodId", detail: `${quoted(periodId)} ${meaning.fault}` },
    ]);
  }
  return { ...meaning, close: null };
}
