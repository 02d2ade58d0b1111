// `wallet reserve`: holds a part of what is available.
import { ReservationConflict, type WalletResult } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { requireDurationMs } from "../../input/arguments.ts";
import { exitCodes, usageFailure } from "../../failure.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { printFigures, readMovement, type MovementFlags } from "./movement.ts";
import { withWallet } from "./wallet-context.ts";

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
  const expiresInSeconds = flags.expiresIn === undefined ? null : readExpiry(flags.expiresIn);
  const hold = { ...readMovement(amount, flags), expiresInSeconds };
  return withWallet(key, flags, environment, async ({ client, wallet, output }) => {
    const print = (result: WalletResult) => {
      printFigures(output, result, (figure) => displayAmount(figure, hold.assetCode));
    };
    try {
      const reservation = await client.reserveFunds(wallet, hold);
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

function readExpiry(text: string): number {
  const seconds = requireDurationMs("--expires-in", text) / 1000;
  if (seconds > expirySecondsMax) throw usageFailure("--expires-in must be at most 365d");
  return seconds;
}
