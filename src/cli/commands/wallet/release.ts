// `wallet release`: gives back what was held.
import type { Environment } from "../../../config.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { amountsOf } from "./wallet-asset.ts";
import { printFigures } from "./movement.ts";
import { withWallet } from "./wallet-context.ts";

export async function releaseHold(
  key: string,
  holdId: string,
  flags: ServiceFlags,
  environment: Environment,
): Promise<void> {
  await withWallet(key, flags, environment, async ({ client, wallet, output }) => {
    const result = await client.releaseHold(wallet, holdId);
    printFigures(output, result, await amountsOf(output, client, wallet));
  });
}
