// `wallet reserve`, `wallet commit` and `wallet release`.
import { ReservationConflict, type WalletResult } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { requireDurationMs } from "../../input/arguments.ts";
import { exitCodes, usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../options.ts";
import { withService } from "../../connection/service-context.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { amountsOf } from "./wallet-asset.ts";
import { writeToWallet } from "./ledger-state-refusal.ts";
import { printFigures, readMovement, type MovementFlags } from "./movements.ts";
import { addressOf, requireAmount, requireWalletName } from "./wallet-arguments.ts";

export interface ReserveFlags extends MovementFlags {
  expiresIn?: string;
}

/** A year, as the API has it. */
const expirySecondsMax = 31_536_000;

export async function reserveFunds(
  key: string,
  amount: string,
  flags: ReserveFlags,
  environment: Environment,
): Promise<number> {
  const name = requireWalletName(key);
  const expiresInSeconds = flags.expiresIn === undefined ? null : readExpiry(flags.expiresIn);
  const hold = { ...readMovement(amount, flags), expiresInSeconds };
  return withService(flags, environment, async ({ client, ledgerId, output }) => {
    const wallet = addressOf(name, ledgerId);
    const print = (result: WalletResult) => {
      printFigures(output, result, (figure) => displayAmount(figure, hold.assetCode));
    };
    try {
      const reservation = await writeToWallet(client, wallet.ledgerId, () =>
        client.reserveFunds(wallet, hold),
      );
      if (output.isQuiet && !output.isJson) output.line(reservation.holdId);
      else print(reservation);
      return exitCodes.done;
    } catch (error) {
      if (!(error instanceof ReservationConflict)) throw error;
      print(error.result);
      output.warn("nothing is held: the external id is that of an earlier credit or debit");
      return exitCodes.conflict;
    }
  });
}

export async function commitHold(
  key: string,
  holdId: string,
  amountText: string | undefined,
  flags: ServiceFlags,
  environment: Environment,
): Promise<undefined> {
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

export async function releaseHold(
  key: string,
  holdId: string,
  flags: ServiceFlags,
  environment: Environment,
): Promise<undefined> {
  const name = requireWalletName(key);
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const wallet = addressOf(name, ledgerId);
    const result = await writeToWallet(client, wallet.ledgerId, () =>
      client.releaseHold(wallet, holdId),
    );
    printFigures(output, result, await amountsOf(output, client, wallet));
  });
}

function readExpiry(text: string): number {
  const seconds = requireDurationMs("--expires-in", text) / 1000;
  if (seconds > expirySecondsMax) throw usageFailure("--expires-in must be at most 365d");
  return seconds;
}
