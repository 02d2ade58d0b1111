// `wallet tail`: follows wallets until it is interrupted; on a terminal as a live screen, else a line a message.
import type { Environment } from "../../../config.ts";
import type { WalletMessage } from "../../../client/ledger-client.ts";
import { usageFailure } from "../../failure.ts";
import { exitOnInterrupt } from "../../terminal/interrupts.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { isScreenWanted, toJson, type Output } from "../../terminal/output.ts";
import { withService } from "../../connection/service-context.ts";
import { connectionTeller } from "../../connection/stream-notice.ts";
import { printable } from "../../terminal/printable.ts";
import { requireWholeNumber } from "../../input/arguments.ts";
import { addressOf, requireWalletName } from "./wallet-arguments.ts";
import { shownIn, WalletUnits } from "./wallet-asset.ts";

export interface TailFlags extends ServiceFlags {
  since?: string;
}

export async function tailWallets(
  keysGiven: readonly string[],
  flags: TailFlags,
  environment: Environment,
): Promise<number | undefined> {
  exitOnInterrupt();
  const keys = [...new Set(keysGiven)];
  const wallets = keys.map((key) => ({ key, name: requireWalletName(key) }));
  const since = readSince(flags, keys.length);
  return withService(flags, environment, async ({ client, ledgerId, output }) => {
    const addresses = wallets.map(({ key, name }) => ({ key, wallet: addressOf(name, ledgerId) }));
    // A stream goes on trying where nobody answers. What is wrong from the start ends the command.
    const tailed = await Promise.all(
      addresses.map(async (one) => ({ ...one, ...(await client.getWalletBalance(one.wallet)) })),
    );
    const units = new WalletUnits({ client, output }, addresses);
    if (!output.isJson) await Promise.all(keys.map((key) => units.learn(key)));
    if (isScreenWanted(output, environment)) {
      const { tailOnScreen } = await import("./tail-screen.tsx");
      return tailOnScreen(client, tailed, { ...since, units, isColored: output.isColored });
    }
    const print = messagePrinter(output, keys, units);
    const streams = addresses.map(({ key, wallet }) => ({
      key,
      stream: client.streamWallet(wallet, {
        ...since,
        onConnection: connectionTeller(output, key),
      }),
    }));
    try {
      await Promise.all(
        streams.map(async ({ key, stream }) => {
          for await (const message of stream) await print(key, message);
        }),
      );
    } finally {
      for (const { stream } of streams) stream.close();
    }
    return undefined;
  });
}

function readSince(flags: TailFlags, keyCount: number): { since?: number } {
  if (flags.since === undefined) return {};
  if (keyCount !== 1) {
    throw usageFailure("--since goes with one KEY: every wallet counts a seq of its own");
  }
  return { since: requireWholeNumber("--since", flags.since, 0) };
}

/** A function that prints messages of all wallets one after another, no faster than they are read. */
function messagePrinter(output: Output, keys: readonly string[], units: WalletUnits) {
  const keyWidth = Math.max(...keys.map((key) => printable(key).length));
  let amountWidth = 10;
  let printed = Promise.resolve();
  // Time here, since messages carry none; columns get wider where an amount needs it.
  const row = (key: string, message: WalletMessage): string => {
    const shown = shownIn(units.of(key), output);
    const [balance, available] = [shown(message.balance), shown(message.available)];
    amountWidth = Math.max(amountWidth, balance.length, available.length);
    const cells = [
      new Date().toISOString(),
      printable(key).padEnd(keyWidth),
      balance.padStart(amountWidth),
      available.padStart(amountWidth),
      String(message.seq),
      ...(message.isPosting ? ["posted"] : []),
    ];
    return cells.join("  ");
  };
  return (key: string, message: WalletMessage): Promise<void> => {
    printed = printed.then(async () => {
      // A wallet that was not there before is there now.
      if (!output.isJson) await units.learn(key);
      const { isPosting, ...sent } = message;
      output.line(output.isJson ? toJson({ key, ...sent }) : row(key, message));
      return output.drained();
    });
    return printed;
  };
}
