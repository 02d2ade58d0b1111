// Which organization a ledger belongs to and what its functional currency is. Neither ever changes,
// so what was once found is kept; what was not found is asked again. Only a failover can lose a ledger.
import { Refusal } from "../core/errors.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import { parseUuid } from "../core/text.ts";

const ledgersMax = 100_000;

export class LedgerDirectory {
  readonly #find: (ledgerId: string) => Promise<LedgerIdentity | null>;
  #ledgers = new Map<string, LedgerIdentity>();

  constructor(find: (ledgerId: string) => Promise<LedgerIdentity | null>) {
    this.#find = find;
  }

  /** The ledger, or `ledgerNotFound`: the same for one that is unknown, no UUID or another organization's. */
  async getLedger(organizationId: string, ledgerIdText: string): Promise<LedgerIdentity> {
    const ledgerId = parseUuid(ledgerIdText);
    const kept = ledgerId === null ? undefined : this.#ledgers.get(ledgerId);
    if (kept?.organizationId === organizationId) return kept;
    // Another organization's is asked for again too: it must not be answered sooner than an unknown one.
    const ledger = ledgerId === null ? null : await this.#load(ledgerId);
    if (ledger?.organizationId !== organizationId) {
      throw new Refusal("ledgerNotFound", "there is no such ledger");
    }
    return ledger;
  }

  /** To be called when another database host serves: it may lack ledgers that were found. */
  forget(): void {
    this.#ledgers = new Map();
  }

  async #load(ledgerId: string): Promise<LedgerIdentity | null> {
    // What is found while everything is forgotten goes with the rest.
    const ledgers = this.#ledgers;
    const found = await this.#find(ledgerId);
    if (found === null) return null;
    if (ledgers.size >= ledgersMax) ledgers.clear();
    const { organizationId, functionalCurrency } = found;
    const ledger = { ledgerId, organizationId, functionalCurrency };
    ledgers.set(ledgerId, ledger);
    return ledger;
  }
}
