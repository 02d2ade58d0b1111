// `ui`: the books of a ledger on a screen.
import type { Environment } from "../../../config.ts";
import { withService } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { usageFailure } from "../../failure.ts";
import { exitOnInterrupt } from "../../terminal/interrupts.ts";
import { isScreenWanted, Output } from "../../terminal/output.ts";

/** Resolves with the exit code. */
export async function ui(flags: ServiceFlags, environment: Environment): Promise<number> {
  const isWanted = isScreenWanted(new Output(flags, environment.isColorRefused), environment);
  if (!isWanted || !process.stdin.isTTY) {
    throw usageFailure(
      "ui needs a terminal to show the books on; `ledgerctl trial-balance`, `register` and `entry list` print them",
    );
  }
  exitOnInterrupt();
  // The screen tells itself what is waited for, and asks again.
  return withService(
    flags,
    environment,
    async ({ client, ledgerId, output }) => {
      const ledger = await client.getLedger(ledgerId());
      const { uiOnScreen } = await import("./ui-screen.tsx");
      return uiOnScreen(client, ledger, output.isColored);
    },
    { showsProgress: true, retryForMs: 0, timeoutMs: 60_000 },
  );
}
