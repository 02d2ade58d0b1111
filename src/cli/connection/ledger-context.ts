// Running a command on one ledger of the database itself.
import type { Environment } from "../../config.ts";
import { findLedger } from "../../store/ledgers.ts";
import { requireId } from "../input/arguments.ts";
import { resolveConnection, type Connection } from "./settings.ts";
import { withDatabase, type AdminContext } from "./database-context.ts";
import { notFoundFailure } from "../failure.ts";
import type { DatabaseFlags } from "../definition/options.ts";
import { Output } from "../terminal/output.ts";

export interface LedgerFlags extends DatabaseFlags {
  ledger?: string | undefined;
}

/**
 * Runs with the ledger that `--ledger`, the environment or the profile names; it has to exist. `connection` is for
 * those who have looked already.
 */
export async function onLedger(
  flags: LedgerFlags,
  environment: Environment,
  run: (ledgerId: string, context: AdminContext) => Promise<void>,
  connection?: Partial<Connection>,
): Promise<void> {
  const output = new Output(flags, environment.isColorRefused);
  const { ledger } = connection ?? (await resolveConnection(flags, environment, output));
  const ledgerId = requireId("--ledger", ledger ?? undefined);
  await withDatabase(flags, environment, async (context) => {
    if ((await findLedger(context.pool, ledgerId)) === null) {
      throw notFoundFailure(`the database has no ledger ${ledgerId}`);
    }
    await run(ledgerId, context);
  });
}
