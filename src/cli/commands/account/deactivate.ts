// `account deactivate`: refuses new postings to an account.
import type { Environment } from "../../../config.ts";
import type { AdministrationFlags } from "../../connection/administration.ts";
import { setActive } from "./set-active.ts";

export function deactivateAccount(
  code: string,
  flags: AdministrationFlags,
  environment: Environment,
): Promise<void> {
  return setActive(code, false, flags, environment);
}
