// `wallet tail`: follows wallets until it is interrupted; on a terminal as a live screen, else a line a message.
import type { Environment } from "../../../config.ts";
import type { BalanceMessage } from "../../../client/ledger-client.ts";
import { usageFailure } from "../../failure.ts";
import { exitOnInterrupt } from "../../terminal/interrupts.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { isScreenWanted, outputDrained, toJson, type Output } from "../../terminal/output.ts";
import { withService } from "../../connection/service-context.ts";
import { printable } from "../../terminal/printable.ts";
import { requireWholeNumber } from "../../input/arguments.ts";
import { addressOf, requireWalletName } from "./wallet-arguments.ts";

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
    if (isScreenWanted(output, environment)) {
      const { tailOnScreen } = await import("./tail-screen.tsx");
      return tailOnScreen(client, tailed, { ...since, isColored: output.isColored });
    }
    const lines = new MessageLines(output, keys, since.since);
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
          for await (const message of stream) await lines.print(key, message);
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

/** Tells on stderr when a connection is lost, once however often it is tried, and when it is there again. */
function connectionTeller(output: Output, key: string): (state: "connected" | "lost") => void {
  let isLost = false;
  return (state) => {
    if (isLost === (state === "lost")) return;
    isLost = state === "lost";
    const event = isLost ? "the connection is lost; reconnecting" : "connected again";
    output.note(`ledgerctl: ${printable(key)}: ${event}`);
  };
}

/** Prints messages of all wallets one after another, no faster than they are read. */
class MessageLines {
  readonly #output: Output;
  readonly #keyWidth: number;
  /** Of each wallet, the seq that was told last. */
  readonly #lastSeqs = new Map<string, number>();
  #amountWidth = 10;
  #printed: Promise<void> = Promise.resolve();

  constructor(output: Output, keys: readonly string[], since: number | undefined) {
    this.#output = output;
    if (since !== undefined) for (const key of keys) this.#lastSeqs.set(key, since);
    this.#keyWidth = Math.max(...keys.map((key) => printable(key).length));
  }

  async print(key: string, message: BalanceMessage): Promise<void> {
    this.#printed = this.#printed.then(() => {
      this.#output.line(
        this.#output.isJson ? toJson({ key, ...message }) : this.#row(key, message),
      );
      return outputDrained();
    });
    return this.#printed;
  }

  /** Time here, since messages carry none; columns get wider where an amount needs it. */
  #row(key: string, { balance, available, seq }: BalanceMessage): string {
    // A write has a seq of its own, a posting that of the latest write.
    const isPosting = seq !== undefined && seq <= (this.#lastSeqs.get(key) ?? 0);
    if (seq !== undefined) this.#lastSeqs.set(key, seq);
    this.#amountWidth = Math.max(this.#amountWidth, balance.length, available.length);
    const cells = [
      new Date().toISOString(),
      printable(key).padEnd(this.#keyWidth),
      balance.padStart(this.#amountWidth),
      available.padStart(this.#amountWidth),
      String(seq ?? ""),
      ...(isPosting ? ["posted"] : []),
    ];
    return cells.join("  ");
  }
}
