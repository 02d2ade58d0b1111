// A ledger by its name, where the key sees one of that name.
import type { LedgerClient } from "../../client/ledger-client.ts";
import { parseUuid } from "../../core/text.ts";
import { usageFailure } from "../failure.ts";
import { idOfName } from "../input/id-of-name.ts";

/** Finds what `--ledger` means: an id as it is, else the one ledger of that name. Throws when it is called, not before. */
export type LedgerFinder = () => string;

export async function findNamedLedger(
  client: LedgerClient,
  ledger: string | null,
): Promise<LedgerFinder> {
  if (ledger === null) {
    return () => {
      throw usageFailure(
        "name the ledger with --ledger or LEDGERCTL_LEDGER, or once and for all with `ledgerctl config set ledger NAME`",
      );
    };
  }
  if (parseUuid(ledger) !== null) return () => ledger;
  try {
    const id = idOfName(ledger, await client.listLedgers(), {
      place: "--ledger",
      kind: "ledgers",
      none: `there is no ledger ${JSON.stringify(ledger)} that the key can see`,
    });
    return () => id;
  } catch (error) {
    // A command that needs no ledger goes on without one.
    return () => {
      throw error;
    };
  }
}
