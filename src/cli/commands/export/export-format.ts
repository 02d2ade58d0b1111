// What every format of an export can say; each has a file of its own.
import type { Account, Entry, Ledger } from "../../../client/ledger-client.ts";

export const exportFormats = ["hledger", "beancount", "csv", "ndjson"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Writes a ledger entry by entry. Texts end with a line end, or are empty. */
export interface ExportWriter {
  /** What stands before everything else. `contents` says which entries these are. */
  head(ledger: Ledger, contents: string): string;
  /** Says which accounts there are, before an entry names them. */
  accounts(accounts: readonly Account[]): string;
  entry(entry: Entry): string;
}

/** What an entry is called where there is room for one line: what it says of itself, else what kind it is. */
export function titleOf({ description, eventType, entryType }: Entry): string {
  return description ?? eventType ?? (entryType === "STANDARD" ? "" : entryType);
}

/** Declarations between entries, with a blank line before them. */
export function apart(declarations: string): string {
  return declarations === "" ? "" : `\n${declarations}`;
}
