// `account activate`: lets an account be posted to again.
import type { Environment } from "../../../config.ts";
import type { LedgerFlags } from "../../connection/ledger-context.ts";
import { setActive } from "./set-active.ts";

export function activateAccount(
  code: string,
  flags: LedgerFlags,
  environment: Environment,
): Promise<void> {
  return setActive(code, true, flags, environment);
}
