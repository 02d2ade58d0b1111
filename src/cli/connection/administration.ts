// Running a command that administers a ledger: through the API for a key with the scope `admin`, else on the database.
import type { Environment } from "../../config.ts";
import { ServiceProblem, ServiceUnreachable } from "../../client/errors.ts";
import { errorCode } from "../../core/thrown.ts";
import { isDataFolder } from "../../store/embedded/data-folder.ts";
import type { DatabaseFlags, ServiceFlags } from "../definition/options.ts";
import { HintedFailure } from "../failure.ts";
import { Output } from "../terminal/output.ts";
import { withDatabase, type AdminContext } from "./database-context.ts";
import { onLedger, requireLedger } from "./ledger-context.ts";
import { withService, type ServiceContext } from "./service-context.ts";
import { isDatabaseNamed, resolveConnection } from "./settings.ts";
import { findStoredLedger } from "./stored-names.ts";

export type AdministrationFlags = ServiceFlags & DatabaseFlags;

/** What a command does on either side. */
export interface AdministrationWays {
  readonly onService: (ledgerId: string, context: ServiceContext) => Promise<void>;
  readonly onDatabase: (ledgerId: string, context: AdminContext) => Promise<void>;
}

/**
 * Runs on the database that flags or environment name; without one through the API, where a key is configured. A key that
 * may not, or a server that does not run, is no hindrance where the default data folder has the ledger.
 */
export async function administerLedger(
  flags: AdministrationFlags,
  environment: Environment,
  { onService, onDatabase }: AdministrationWays,
): Promise<void> {
  const warnings = new Output(flags, environment.isColorRefused);
  const connection = await resolveConnection(flags, environment, warnings);
  if (isDatabaseNamed(flags, environment) || connection.apiKey === undefined) {
    await onLedger(flags, environment, onDatabase, connection);
    return;
  }
  const ledger = requireLedger(connection.ledger);
  const run = (context: ServiceContext) => onService(context.ledgerId(), context);
  try {
    await withService(flags, environment, run, { connection });
  } catch (error) {
    const reason = reasonForDatabase(error);
    if (reason === null) throw error;
    const failure = lacksScope(error) ? new HintedFailure(error, scopeHint) : error;
    if (!(await isDataFolder(environment.dataDir))) throw failure;
    await withDatabase(flags, environment, async (context) => {
      const ledgerId = await findStoredLedger(context.pool, "--ledger", ledger).catch(() => {
        throw failure;
      });
      context.output.note(`${reason}: on the database in ${environment.dataDir} instead`);
      await onDatabase(ledgerId, context);
    });
  }
}

const scopeHint =
  "Where the ledger's database is, --data-dir or --database-url does without a key.";

/** Why what the service did not do may be done on the database; null where the service has to be asked again. */
function reasonForDatabase(error: unknown): string | null {
  if (lacksScope(error)) return "the API key lacks the scope admin";
  // Nothing can have arrived there.
  const isRefused =
    error instanceof ServiceUnreachable && errorCode(error.cause) === "ECONNREFUSED";
  return isRefused ? "the server does not run" : null;
}

function lacksScope(error: unknown): boolean {
  return error instanceof ServiceProblem && error.code === "INSUFFICIENT_SCOPE";
}
