// `wallet commit`: takes what was held, or less of it.
import type { Environment } from "../../../config.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { amountsOf } from "./wallet-asset.ts";
import { printFigures } from "./movement.ts";
import { requireAmount } from "./wallet-arguments.ts";
import { withWallet } from "./wallet-context.ts";

export async function commitHold(
  key: string,
  holdId: string,
  amountText: string | undefined,
  flags: ServiceFlags,
  environment: Environment,
): Promise<void> {
  // Of which asset the hold is, is not known here, hence no --major.
  const hint = "12.50 of a currency with two decimals is written 1250";
  const commit = amountText === undefined ? {} : { amount: requireAmount(amountText, null, hint) };
  await withWallet(key, flags, environment, async ({ client, wallet, output }) => {
    const result = await client.commitHold(wallet, holdId, commit);
    printFigures(output, result, await amountsOf(output, client, wallet));
  });
}
