// `wallet debit`: takes from a wallet.
import type { Environment } from "../../../config.ts";
import { moveFunds, type MovementFlags } from "./movement.ts";

export function debitWallet(
  key: string,
  amount: string,
  flags: MovementFlags,
  environment: Environment,
): Promise<void> {
  return moveFunds("debitWallet", key, amount, flags, environment);
}
