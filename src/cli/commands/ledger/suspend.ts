// `ledger suspend`: lets a ledger only be read.
import type { Environment } from "../../../config.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { changeStatus } from "./change-status.ts";

export function suspendLedger(
  id: string,
  flags: DatabaseFlags,
  environment: Environment,
): Promise<void> {
  return changeStatus(id, "suspended", flags, environment);
}
