// The failure of a change to an account that wallets are posted to.
import { CommandFailure, exitCodes } from "../../failure.ts";

export function inUseFailure(use: { glAccountCode: string; assetCodes: readonly string[] }) {
  return new CommandFailure(
    `wallets of ${use.assetCodes.join(", ")} are posted to account ${use.glAccountCode}; ` +
      "give them another with `ledgerctl asset set` first",
    exitCodes.conflict,
  );
}
