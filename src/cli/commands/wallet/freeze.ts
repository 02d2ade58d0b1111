// `wallet freeze` and `wallet unfreeze`.
import type { Environment } from "../../../config.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { members } from "../../terminal/output.ts";
import { amountsOf } from "./wallet-asset.ts";
import { withWallet, type WalletContext } from "./wallet-context.ts";

export const freezeWallet = controlBy("freezeWallet");
export const unfreezeWallet = controlBy("unfreezeWallet");

function controlBy(control: "freezeWallet" | "unfreezeWallet") {
  return async (key: string, flags: ServiceFlags, environment: Environment): Promise<void> => {
    const run = async ({ client, wallet, output }: WalletContext) => {
      const result = await client[control](wallet);
      const shown = await amountsOf(output, client, wallet);
      output.result(result, ({ status, frozen, balance, available }) => {
        if (output.isQuiet) return status;
        const figures = { balance: shown(balance), available: shown(available) };
        return members({ status, frozen: frozen ? "yes" : "no", ...figures });
      });
    };
    await withWallet(key, flags, environment, run, "INSUFFICIENT_SCOPE");
  };
}
