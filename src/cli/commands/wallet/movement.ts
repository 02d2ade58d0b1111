// What `wallet credit` and `wallet debit` do, and what other writes of wallets share with them.
import type { Environment } from "../../../config.ts";
import type { MovementInput, WalletResult } from "../../../client/ledger-client.ts";
import { currencyExponents } from "../../../core/currencies.ts";
import { requireCurrency, requireLabel } from "../../input/arguments.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { members, type Output } from "../../terminal/output.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { requireAmount } from "./wallet-arguments.ts";
import { withWallet } from "./wallet-context.ts";

export interface MovementFlags extends ServiceFlags {
  asset: string;
  externalId?: string;
  metadata?: string;
  major?: boolean;
}

/** The verb that credits or debits a wallet. */
export function movementBy(write: "creditWallet" | "debitWallet") {
  return async (
    key: string,
    amount: string,
    flags: MovementFlags,
    environment: Environment,
  ): Promise<void> => {
    const movement = readMovement(amount, flags);
    const { assetCode } = movement;
    await withWallet(key, flags, environment, async ({ client, wallet, output }) => {
      const result = await client[write](wallet, movement);
      printFigures(output, result, (figure) => displayAmount(figure, assetCode));
      const isFirst = result.status === "accepted" && result.balance === movement.amount;
      if (isFirst && looksLikeCurrency(assetCode)) {
        output.note(
          `${assetCode} is no ISO 4217 currency: the ledger takes it as an asset of its own`,
        );
      }
    });
  };
}

/** The body that amount and flags describe. */
export function readMovement(amountText: string, flags: MovementFlags): MovementInput {
  const assetCode = requireCurrency("--asset", flags.asset);
  const { externalId, metadata } = flags;
  return {
    amount: requireAmount(amountText, flags.major === true ? assetCode : null),
    assetCode,
    ...(externalId === undefined ? {} : { externalId: requireLabel("--external-id", externalId) }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** Three letters that are no currency are a slip as likely as an asset. */
function looksLikeCurrency(assetCode: string): boolean {
  return /^[A-Za-z]{3}$/.test(assetCode) && !currencyExponents.has(assetCode);
}

/** The figures after a write; with `--quiet` the status alone. */
export function printFigures(
  output: Output,
  result: WalletResult,
  shown: (amount: string) => string,
): void {
  output.result(result, ({ status, balance, available, ...others }) => {
    if (output.isQuiet) return status;
    return members({ status, ...others, balance: shown(balance), available: shown(available) });
  });
}
