// Running a command on one ledger of the database itself.
import type { Environment } from "../../config.ts";
import { requireLabel } from "../input/arguments.ts";
import { findStoredLedger } from "./stored-names.ts";
import { resolveConnection, type Connection } from "./settings.ts";
import { withDatabase, type AdminContext } from "./database-context.ts";
import { usageFailure } from "../failure.ts";
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
  const named = requireLedger(ledger);
  await withDatabase(flags, environment, async (context) => {
    await run(await findStoredLedger(context.pool, "--ledger", named), context);
  });
}

/** The ledger that was named, by its id or its name. Throws a usage failure where none was. */
export function requireLedger(ledger: string | null | undefined): string {
  if (ledger === null || ledger === undefined) throw usageFailure("--ledger is required");
  return requireLabel("--ledger", ledger);
}
