// `wallet credit`: adds to a wallet.
import type { Environment } from "../../../config.ts";
import { moveFunds, type MovementFlags } from "./movement.ts";

export function creditWallet(
  key: string,
  amount: string,
  flags: MovementFlags,
  environment: Environment,
): Promise<void> {
  return moveFunds("creditWallet", key, amount, flags, environment);
}
