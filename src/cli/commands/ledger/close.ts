// `ledger close`: closes a ledger for ever, and asks first.
import type { Environment } from "../../../config.ts";
import { requireLabel } from "../../input/arguments.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { printable } from "../../terminal/printable.ts";
import { changeStatus } from "./change-status.ts";

export async function closeLedger(
  ledger: string,
  flags: DatabaseFlags & { yes?: boolean },
  environment: Environment,
): Promise<void> {
  requireLabel("ID", ledger);
  const shown = printable(ledger);
  await confirm(`Close ledger ${shown} for ever? Nothing can be posted to it again.`, flags.yes);
  await changeStatus(ledger, "closed", flags, environment);
}
