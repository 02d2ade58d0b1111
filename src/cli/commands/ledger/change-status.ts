// What `ledger suspend`, `ledger activate` and `ledger close` do.
import type { Environment } from "../../../config.ts";
import type { LedgerStatus } from "../../../core/ledger.ts";
import { changeLedgerStatus } from "../../../engine/ledger-state.ts";
import { findLedger } from "../../../store/ledgers.ts";
import { requireId } from "../../input/arguments.ts";
import { withDatabase } from "../../connection/database-context.ts";
import { CommandFailure, exitCodes, notFoundFailure } from "../../failure.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { document } from "./ledger-document.ts";

/** Gives a ledger a status, and prints the ledger. A closed ledger stays so. */
export async function changeStatus(
  idText: string,
  status: LedgerStatus,
  flags: DatabaseFlags,
  environment: Environment,
): Promise<void> {
  const id = requireId("ID", idText);
  await withDatabase(flags, environment, async ({ output, pool }) => {
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
    const ledger = change.outcome === "done" ? await findLedger(pool, id) : null;
    if (ledger === null) throw notFoundFailure(`there is no ledger ${id}`);
    output.result(document(ledger), () => `ledger ${id} is ${status}`);
  });
}
