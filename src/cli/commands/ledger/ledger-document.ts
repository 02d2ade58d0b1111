// A ledger as it is printed.
import type { LedgerStatus } from "../../../core/ledger.ts";
import { type LedgerRecord } from "../../../store/ledgers.ts";

export interface LedgerDocument {
  readonly id: string;
  readonly name: string;
  readonly status: LedgerStatus;
  readonly functionalCurrency: string;
  readonly createdAt: string;
}

export function document(ledger: LedgerRecord): LedgerDocument {
  return pickDocument({ ...ledger, id: ledger.ledgerId });
}

export function pickDocument(ledger: LedgerDocument): LedgerDocument {
  const { id, name, status, functionalCurrency, createdAt } = ledger;
  return { id, name, status, functionalCurrency, createdAt };
}
