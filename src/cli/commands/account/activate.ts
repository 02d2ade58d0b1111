// `account activate`: lets an account be posted to again.
import type { Environment } from "../../../config.ts";
import type { AdministrationFlags } from "../../connection/administration.ts";
import { setActive } from "./set-active.ts";

export function activateAccount(
  code: string,
  flags: AdministrationFlags,
  environment: Environment,
): Promise<void> {
  return setActive(code, true, flags, environment);
}
