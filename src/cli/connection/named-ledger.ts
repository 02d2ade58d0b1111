// A ledger by its name, where the key sees one of that name.
import type { LedgerClient } from "../../client/ledger-client.ts";
import { parseUuid } from "../../core/text.ts";
import { notFoundFailure, usageFailure } from "../failure.ts";
import { suggestion } from "../input/suggestion.ts";

/** Finds what `--ledger` means: an id as it is, else the one ledger of that name. Throws when it is called, not before. */
export type LedgerFinder = () => string;

export async function findNamedLedger(
  client: LedgerClient,
  ledger: string | null,
): Promise<LedgerFinder> {
  if (ledger === null) {
    return () => {
      throw usageFailure("name the ledger with --ledger or LEDGERCTL_LEDGER");
    };
  }
  if (parseUuid(ledger) !== null) return () => ledger;
  try {
    const id = idOfName(await client.listLedgers(), ledger);
    return () => id;
  } catch (error) {
    // A command that needs no ledger goes on without one.
    return () => {
      throw error;
    };
  }
}

function idOfName(
  ledgers: readonly { readonly id: string; readonly name: string }[],
  ledger: string,
): string {
  const [only, ...others] = ledgers.filter(({ name }) => name === ledger);
  if (only === undefined) {
    const names = ledgers.map(({ name }) => name);
    throw notFoundFailure(
      `there is no ledger ${JSON.stringify(ledger)} that the key can see${suggestion(ledger, names)}`,
    );
  }
  if (others.length === 0) return only.id;
  const ids = [only, ...others].map(({ id }) => id).join(", ");
  throw usageFailure(`--ledger ${JSON.stringify(ledger)} is the name of several ledgers: ${ids}`);
}
