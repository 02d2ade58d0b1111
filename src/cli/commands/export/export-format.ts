// What every format of an export can say; each has a file of its own.
import type { Account, Entry, Ledger } from "../../../client/ledger-client.ts";

export const exportFormats = ["hledger", "beancount", "csv", "ndjson"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Writes a ledger entry by entry. Texts end with a line end, or are empty. */
export interface ExportWriter {
  /** What stands before everything else. `contents` says which entries these are. */
  head?(ledger: Ledger, contents: string): string;
  /** Says that there is an account, before an entry names it. */
  account?(account: Account): string;
  entry(entry: Entry): string;
}
