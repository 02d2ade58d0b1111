// What `wallet credit` and `wallet debit` do, and what other writes of wallets share with them.
import type { Environment } from "../../../config.ts";
import type { MovementInput, WalletResult } from "../../../client/ledger-client.ts";
import { currencyExponents } from "../../../core/currencies.ts";
import { Exponents, exponentsShown } from "../../connection/exponents.ts";
import { requireCurrency, requireLabel } from "../../input/arguments.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { members, type Output } from "../../terminal/output.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { requireAmount } from "./wallet-arguments.ts";
import { withWallet, type WalletContext } from "./wallet-context.ts";

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
    const requireMovement = readMovement(amount, flags);
    await withWallet(key, flags, environment, async (context) => {
      const { client, wallet, output } = context;
      const movement = await requireMovement(context);
      const { assetCode } = movement;
      const result = await client[write](wallet, movement);
      printFigures(output, result, await figuresOf(assetCode, context));
      const isFirst = result.status === "accepted" && result.balance === movement.amount;
      if (isFirst && looksLikeCurrency(assetCode)) {
        output.note(
          `${assetCode} is no ISO 4217 currency: the ledger takes it as an asset of its own`,
        );
      }
    });
  };
}

/**
 * The body that amount and flags describe. Mistakes are told before anything is asked, except for an amount in major units
 * of an asset whose exponent the ledger's rule has.
 */
export function readMovement(
  amountText: string,
  flags: MovementFlags,
): (context: WalletContext) => Promise<MovementInput> {
  const assetCode = requireCurrency("--asset", flags.asset);
  const { externalId, metadata } = flags;
  const others = {
    assetCode,
    ...(externalId === undefined ? {} : { externalId: requireLabel("--external-id", externalId) }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  const amountOf = (exponent: number) =>
    requireAmount(amountText, flags.major === true ? { code: assetCode, exponent } : null);
  const exponent = flags.major === true ? currencyExponents.get(assetCode) : 0;
  if (exponent !== undefined) {
    const movement = { amount: amountOf(exponent), ...others };
    return () => Promise.resolve(movement);
  }
  return async ({ client, wallet }) => {
    const exponents = new Exponents(client, wallet.ledgerId);
    await exponents.learn([assetCode]);
    return { amount: amountOf(exponents.of(assetCode)), ...others };
  };
}

/** How figures of a wallet of an asset are shown. */
export async function figuresOf(
  assetCode: string,
  context: WalletContext,
): Promise<(figure: string) => string> {
  const { output } = context;
  if (output.isMinor) return (figure) => output.grouped(figure);
  const exponentOf = await exponentsShown(context, context.wallet.ledgerId, [assetCode]);
  return (figure) => output.grouped(displayAmount(figure, assetCode, exponentOf(assetCode)));
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
