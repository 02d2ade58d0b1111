// `account deactivate`: refuses new postings to an account.
import type { Environment } from "../../../config.ts";
import type { LedgerFlags } from "../../connection/ledger-context.ts";
import { setActive } from "./set-active.ts";

export function deactivateAccount(
  code: string,
  flags: LedgerFlags,
  environment: Environment,
): Promise<void> {
  return setActive(code, false, flags, environment);
}
