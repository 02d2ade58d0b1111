// An entry or a close in detail: rows of a name and a value, wrapped to the width of the terminal. Pure.
import type { Close, Entry } from "../../../client/ledger-client.ts";
import type { ExponentOf } from "../../connection/exponents.ts";
import { printable } from "../../terminal/printable.ts";
import { displayWidth } from "../../terminal/fit-columns.ts";
import { majorText } from "../../terminal/amounts.ts";
import { shortDate } from "../../terminal/short-date.ts";

export interface DetailRow {
  readonly name: string;
  readonly value: string;
  /** What Enter opens. */
  readonly opens: { readonly account: string } | { readonly entry: string } | null;
  /** How the value weighs: an amount's sign, or none. */
  readonly sign: "debit" | "credit" | null;
}

const nameWidth = 14;
/** Beside the value: the mark, the name, and what keeps them apart. */
const besideValue = nameWidth + 4;
const valueWidthMin = 8;

export function entryDetails(entry: Entry, columns: number, exponentOf: ExponentOf): DetailRow[] {
  const rows = detailWriter(columns);
  rows.text("entry", `${entry.sequence}`);
  rows.text("date", shortDate(entry.transactionDate));
  rows.text("description", entry.description);
  rows.text("type", entry.entryType === "STANDARD" ? null : entry.entryType);
  const reversal = entry.reversedByJournalId;
  rows.text("reversed by", reversal, reversal === null ? null : { entry: reversal });
  const original = entry.reversesJournalId;
  rows.text("reverses", original, original === null ? null : { entry: original });
  rows.gap();
  for (const line of entry.lines) {
    const code = line.glAccountCode;
    const { transactionCurrency, functionalCurrency, functionalAmount, transactionAmount } = line;
    const own = `${majorText(functionalAmount, exponentOf(functionalCurrency))} ${functionalCurrency}`;
    const foreign =
      transactionCurrency === functionalCurrency
        ? ""
        : ` (${majorText(transactionAmount, exponentOf(transactionCurrency))} ${transactionCurrency})`;
    const sign = functionalAmount.startsWith("-") ? "credit" : "debit";
    rows.text(code, `${own}${foreign}`, { account: code }, sign);
    rows.text("", line.description);
  }
  rows.gap();
  rows.text("external id", entry.externalId);
  rows.text("event", entry.eventType);
  rows.text("origin", [entry.originSystem, entry.originAccount].filter(Boolean).join(" ") || null);
  const metadata = JSON.stringify(entry.metadata);
  rows.text("metadata", metadata === "{}" ? null : metadata);
  rows.text("persisted", entry.persistedAt);
  rows.text("id", entry.journalId);
  return rows.rows;
}

export function closeDetails(close: Close, columns: number): DetailRow[] {
  const rows = detailWriter(columns);
  rows.text("period", close.periodId);
  rows.text("state", `closed, number ${close.number}`);
  rows.text("from", shortDate(close.startsAt ?? "the first entry"));
  rows.text("up to", shortDate(close.endsAt));
  rows.text("closed", close.closedAt);
  rows.text("reason", close.reason);
  rows.text("entries", `${close.entryCount}`);
  rows.text("last entry", `${close.lastSequence}`);
  rows.gap();
  rows.text("closeHash", close.closeHash);
  rows.text("merkleRoot", close.merkleRoot);
  rows.text("balancesRoot", close.balancesRoot);
  rows.text("previous", close.previousCloseHash);
  rows.text("id", close.closeId);
  return rows.rows;
}

function detailWriter(columns: number) {
  const rows: DetailRow[] = [];
  const width = Math.max(valueWidthMin, columns - besideValue);
  const text = (
    name: string,
    value: string | null,
    opens: DetailRow["opens"] = null,
    sign: DetailRow["sign"] = null,
  ) => {
    if (value === null) return;
    for (const [index, part] of wrapped(printable(value), width).entries()) {
      rows.push({ name: index === 0 ? printable(name) : "", value: part, opens, sign });
    }
  };
  const gap = () => {
    rows.push({ name: "", value: "", opens: null, sign: null });
  };
  return { rows, text, gap };
}

/** A text in pieces of at most `width` columns, cut between words where there are any. */
export function wrapped(text: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const word of text.split(/(?<=[ ,])/)) {
    if (piece !== "" && displayWidth(piece + word.trimEnd()) > width) {
      pieces.push(piece.trimEnd());
      piece = "";
    }
    for (const character of word) {
      if (displayWidth(piece + character) > width && character !== " ") {
        pieces.push(piece);
        piece = "";
      }
      piece += character;
    }
  }
  return [...pieces, piece.trimEnd()];
}
