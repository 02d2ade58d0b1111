// `ledger close`: closes a ledger for ever, and asks first.
import type { Environment } from "../../../config.ts";
import { requireId } from "../../input/arguments.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { changeStatus } from "./change-status.ts";

export async function closeLedger(
  idText: string,
  flags: DatabaseFlags & { yes?: boolean },
  environment: Environment,
): Promise<void> {
  const id = requireId("ID", idText);
  await confirm(`Close ledger ${id} for ever? Nothing can be posted to it again.`, flags.yes);
  await changeStatus(id, "closed", flags, environment);
}
