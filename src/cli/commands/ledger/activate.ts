// `ledger activate`: lets a suspended ledger be written again.
import type { Environment } from "../../../config.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { changeStatus } from "./change-status.ts";

export function activateLedger(
  id: string,
  flags: DatabaseFlags,
  environment: Environment,
): Promise<void> {
  return changeStatus(id, "active", flags, environment);
}
