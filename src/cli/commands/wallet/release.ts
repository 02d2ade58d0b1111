// `wallet release`: gives back what was held.
import type { Environment } from "../../../config.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { withService } from "../../connection/service-context.ts";
import { amountsOf } from "./wallet-asset.ts";
import { writeToWallet } from "./write-to-wallet.ts";
import { printFigures } from "./movement.ts";
import { addressOf, requireWalletName } from "./wallet-arguments.ts";

export async function releaseHold(
  key: string,
  holdId: string,
  flags: ServiceFlags,
  environment: Environment,
): Promise<void> {
  const name = requireWalletName(key);
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const wallet = addressOf(name, ledgerId);
    const result = await writeToWallet(client, wallet.ledgerId, () =>
      client.releaseHold(wallet, holdId),
    );
    printFigures(output, result, await amountsOf(output, client, wallet));
  });
}
