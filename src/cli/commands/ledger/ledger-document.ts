// A ledger as it is printed.
import type { Ledger } from "../../../client/ledger-client.ts";
import type { LedgerRecord } from "../../../store/ledgers.ts";

export type LedgerDocument = Omit<Ledger, "metadata">;

export function document(ledger: LedgerRecord): LedgerDocument {
  return pickDocument({ ...ledger, id: ledger.ledgerId });
}

export function pickDocument(ledger: LedgerDocument): LedgerDocument {
  const { id, name, status, functionalCurrency, createdAt } = ledger;
  return { id, name, status, functionalCurrency, createdAt };
}
