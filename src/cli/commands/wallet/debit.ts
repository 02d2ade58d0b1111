// `wallet debit`: takes from a wallet.
import { movementBy } from "./movement.ts";

export const debitWallet = movementBy("debitWallet");
