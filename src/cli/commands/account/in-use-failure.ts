// The failure of a change to accounts that wallets are posted to.
import type { AccountsInUse } from "../../../engine/accounts.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";

export function inUseFailure({ uses }: AccountsInUse): CommandFailure {
  const sentences = uses.map(
    ({ glAccountCode, assetCodes }) =>
      `wallets of ${assetCodes.join(", ")} are posted to account ${glAccountCode}`,
  );
  return new CommandFailure(
    `${sentences.join("; ")}; give them another with \`ledgerctl asset set\` first`,
    exitCodes.conflict,
  );
}
