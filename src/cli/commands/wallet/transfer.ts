// `wallet transfer`: moves an amount from one wallet to another.
import type { Environment } from "../../../config.ts";
import { usageFailure } from "../../failure.ts";
import { members } from "../../terminal/output.ts";
import { figuresOf, readMovement, type MovementFlags } from "./movement.ts";
import { addressOf, requireWalletName } from "./wallet-arguments.ts";
import { withWallet } from "./wallet-context.ts";

export async function transferFunds(
  fromKey: string,
  toKey: string,
  amount: string,
  flags: MovementFlags,
  environment: Environment,
): Promise<void> {
  const requireMovement = readMovement(amount, flags);
  const toName = requireWalletName(toKey);
  await withWallet(fromKey, flags, environment, async (context) => {
    const { client, wallet: from, output, ledgerId } = context;
    const to = addressOf(toName, ledgerId);
    if (to.ledgerId !== from.ledgerId) throw usageFailure("FROM and TO must be of one ledger");
    if (to.callerKey === from.callerKey) throw usageFailure("FROM and TO must be two wallets");
    const movement = await requireMovement(context);
    const transfer = { from: from.callerKey, to: to.callerKey, ...movement };
    // Atomic, so that a refusal is a problem with its code.
    const [result] = await client.transferAtomically(from.ledgerId, [transfer]);
    if (result === undefined) throw new Error("one transfer has one result");
    const shown = await figuresOf(movement.assetCode, context);
    output.result(result, ({ status, transferId, ...figures }) => {
      if (output.isQuiet) return transferId ?? status;
      return members({
        status,
        transferId: transferId ?? "none",
        "from balance": shown(figures.from.balance),
        "from available": shown(figures.from.available),
        "to balance": shown(figures.to.balance),
        "to available": shown(figures.to.available),
      });
    });
  });
}
