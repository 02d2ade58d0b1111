// What every format of an export can say; each has a file of its own.
import type { Account, Entry, Ledger } from "../../../client/ledger-client.ts";

export const exportFormats = ["hledger", "beancount", "csv", "ndjson"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Whose entries are written, as far as it is known. */
export interface ExportedLedger {
  readonly id: Ledger["id"];
  readonly name: Ledger["name"] | null;
  readonly functionalCurrency: Ledger["functionalCurrency"] | null;
}

/** An account, as far as it is known. */
export interface ExportedAccount {
  readonly glAccountCode: Account["glAccountCode"];
  readonly name: Account["name"] | null;
  readonly type: Account["type"];
}

/** Writes a ledger entry by entry. Texts end with a line end, or are empty. */
export interface ExportWriter {
  /** What stands before everything else. `contents` says which entries these are. */
  head?(ledger: ExportedLedger, contents: string): string;
  /** Says that there is an account, before an entry names it. */
  account?(account: ExportedAccount): string;
  entry(entry: Entry): string;
}
