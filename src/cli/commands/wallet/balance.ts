// `wallet balance`.
import type { Environment } from "../../../config.ts";
import type { LedgerClient, WalletAddress } from "../../../client/ledger-client.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { members, type Output } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";
import { amountsOf } from "./wallet-asset.ts";
import { withWallet } from "./wallet-context.ts";

export async function showWalletBalance(
  key: string,
  flags: ServiceFlags,
  environment: Environment,
): Promise<void> {
  await withWallet(key, flags, environment, async ({ client, wallet, output }) => {
    const figures = await client.getWalletBalance(wallet);
    const shown = await amountsOf(output, client, wallet);
    output.result(figures, ({ balance, available }) =>
      members({ balance: shown(balance), available: shown(available) }),
    );
    if (figures.balance === "0" && !output.isQuiet) await noteUnwritten(output, client, wallet);
  });
}

/** Every key is a wallet that holds nothing: somebody who mistyped one would take that for an answer. */
async function noteUnwritten(output: Output, client: LedgerClient, wallet: WalletAddress) {
  // The figures are told; a note that can't be made is no failure of the command.
  const log = await client.listWalletWrites(wallet, { limit: 1 }).catch(() => null);
  if (log?.writes.length === 0) {
    output.note(`nothing was ever written to wallet ${printable(wallet.callerKey)}`);
  }
}
