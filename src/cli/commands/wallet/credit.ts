// `wallet credit`: adds to a wallet.
import { movementBy } from "./movement.ts";

export const creditWallet = movementBy("creditWallet");
