// `wallet reserve`: holds a part of what is available.
import { ReservationConflict, type WalletResult } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { requireDurationMs } from "../../input/arguments.ts";
import { exitCodes, usageFailure } from "../../failure.ts";
import { figuresOf, printFigures, readMovement, type MovementFlags } from "./movement.ts";
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
  const requireMovement = readMovement(amount, flags);
  return withWallet(key, flags, environment, async (context) => {
    const { client, wallet, output } = context;
    const hold = { ...(await requireMovement(context)), expiresInSeconds };
    const print = async (result: WalletResult) => {
      printFigures(output, result, await figuresOf(hold.assetCode, context));
    };
    try {
      const reservation = await client.reserveFunds(wallet, hold);
      if (output.isQuiet && !output.isJson) output.line(reservation.holdId);
      else await print(reservation);
      return exitCodes.done;
    } catch (error) {
      if (!(error instanceof ReservationConflict)) throw error;
      await print(error.result);
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
