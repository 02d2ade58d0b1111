// What `ledger suspend`, `ledger activate` and `ledger close` do.
import type { Environment } from "../../../config.ts";
import type { LedgerStatus } from "../../../core/ledger.ts";
import { changeLedgerStatus } from "../../../engine/ledger-state.ts";
import { findLedger } from "../../../store/ledgers.ts";
import { requireLabel } from "../../input/arguments.ts";
import { withDatabase } from "../../connection/database-context.ts";
import { findStoredLedger } from "../../connection/stored-names.ts";
import { CommandFailure, exitCodes, notFoundFailure } from "../../failure.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { document } from "./ledger-document.ts";

/** Gives a ledger a status, and prints the ledger. A closed ledger stays so. */
export async function changeStatus(
  ledger: string,
  status: LedgerStatus,
  flags: DatabaseFlags,
  environment: Environment,
): Promise<void> {
  requireLabel("ID", ledger);
  await withDatabase(flags, environment, async ({ output, pool }) => {
    const id = await findStoredLedger(pool, "ID", ledger);
    const change = await changeLedgerStatus(pool, id, status);
    if (change.outcome === "closed") {
      throw new CommandFailure(`ledger ${id} is closed, and stays so`, exitCodes.conflict);
    }
    if (change.outcome === "waitingForRates") {
      throw new CommandFailure(
        `wallets have accepted ${change.assetCodes.join(", ")}, which wait for a rate to be posted; ` +
          "set it with `ledgerctl asset set CODE --rate R` first",
        exitCodes.conflict,
      );
    }
    const changed = change.outcome === "done" ? await findLedger(pool, id) : null;
    if (changed === null) throw notFoundFailure(`there is no ledger ${id} in the database`);
    output.result(document(changed), () => `ledger ${id} is ${status}`);
  });
}
