// What `log resume` and `log restart` share: which logs of which ledgers, asked about first.
import type { Environment } from "../../../config.ts";
import { logKinds, type LogIdentity, type LogKind } from "../../../core/log-origin.ts";
import { listLedgerIds } from "../../../store/ledgers.ts";
import { withDatabase, type AdminContext } from "../../connection/database-context.ts";
import { findStoredLedger } from "../../connection/stored-names.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { usageFailure } from "../../failure.ts";
import { requireLabel } from "../../input/arguments.ts";
import { confirm } from "../../terminal/confirm.ts";

export interface HaltedLogFlags extends DatabaseFlags {
  readonly ledger?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

export type LogOfLedger = Pick<LogIdentity, "ledgerId" | "log">;

/** LOG, `journal` where it is left out. Throws a usage failure. */
export function requireLogKind(text: string | undefined): LogKind {
  const kind = logKinds.find((one) => one === (text ?? "journal"));
  if (kind === undefined) throw usageFailure(`LOG is ${logKinds.join(" or ")}`);
  return kind;
}

/** Asks, and then does `act` for the log of one ledger, or for both logs of each ledger with `--all`. */
export async function withChosenLogs(
  logText: string | undefined,
  flags: HaltedLogFlags,
  environment: Environment,
  question: string,
  act: (context: AdminContext, logs: readonly LogOfLedger[]) => Promise<void>,
): Promise<void> {
  if ((flags.ledger === undefined) === (flags.all !== true)) {
    throw usageFailure("name one ledger with --ledger ID, or all with --all");
  }
  const kinds = flags.all === true && logText === undefined ? logKinds : [requireLogKind(logText)];
  if (flags.ledger !== undefined) requireLabel("--ledger", flags.ledger);
  await confirm(question, flags.yes);
  await withDatabase(flags, environment, async (context) => {
    const { pool } = context;
    const ledgerIds =
      flags.ledger === undefined
        ? await listLedgerIds(pool)
        : [await findStoredLedger(pool, "--ledger", flags.ledger)];
    await act(
      context,
      ledgerIds.flatMap((id) => kinds.map((log) => ({ ledgerId: id, log }))),
    );
  });
}
