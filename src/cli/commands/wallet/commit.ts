// `wallet commit`: takes what was held, or less of it.
import type { Environment } from "../../../config.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { withService } from "../../connection/service-context.ts";
import { amountsOf } from "./wallet-asset.ts";
import { writeToWallet } from "./write-to-wallet.ts";
import { printFigures } from "./movement.ts";
import { addressOf, requireAmount, requireWalletName } from "./wallet-arguments.ts";

export async function commitHold(
  key: string,
  holdId: string,
  amountText: string | undefined,
  flags: ServiceFlags,
  environment: Environment,
): Promise<void> {
  const name = requireWalletName(key);
  // Of which asset the hold is, is not known here, hence no --major.
  const hint = "12.50 of a currency with two decimals is written 1250";
  const commit = amountText === undefined ? {} : { amount: requireAmount(amountText, null, hint) };
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const wallet = addressOf(name, ledgerId);
    const result = await writeToWallet(client, wallet.ledgerId, () =>
      client.commitHold(wallet, holdId, commit),
    );
    printFigures(output, result, await amountsOf(output, client, wallet));
  });
}
