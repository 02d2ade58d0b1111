// The trial balance of the live books.
import type { Environment } from "../../../config.ts";
import type { TrialBalance } from "../../../client/ledger-client.ts";
import { describeUnknownCurrencies } from "../../input/currency-guard.ts";
import { requireEnd, requirePeriodLabel } from "../../input/arguments.ts";
import {
  balanceCsv,
  balanceTable,
  movedTable,
  sumTimeoutMs,
} from "../../terminal/balance-tables.ts";
import { exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import type { Output } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { showBundleBalance } from "./bundle-balance.ts";

export interface TrialBalanceFlags extends ServiceFlags {
  period?: string;
  asOf?: string;
  bundle?: string;
}

/** Resolves with 3 where it does not balance. */
export async function showTrialBalance(
  flags: TrialBalanceFlags,
  environment: Environment,
): Promise<ExitCode> {
  const { period, asOf, bundle } = flags;
  const [, other] = [period, asOf, bundle].filter((given) => given !== undefined);
  if (other !== undefined) {
    throw usageFailure("--period, --as-of and --bundle exclude each other");
  }
  if (bundle !== undefined) return showBundleBalance(bundle, flags, environment);
  const query = {
    ...(period === undefined ? {} : { periodId: requirePeriodLabel("--period", period) }),
    ...(asOf === undefined ? {} : { asOf: requireEnd("--as-of", asOf) }),
  };
  return withService(
    flags,
    environment,
    async ({ client, ledgerId, output }) => {
      const id = ledgerId();
      const balance = await client.getTrialBalance(id, query);
      if (flags.csv === true) output.verbatim(balanceCsv(balance));
      else {
        const { functionalCurrency } = balance;
        const exponentOf = await exponentsShown({ client, output }, id, [functionalCurrency]);
        output.result(balance, () => describe(output, balance, exponentOf(functionalCurrency)));
        const unknown = describeUnknownCurrencies(balance.unknownCurrencies);
        if (unknown !== null && !output.isJson) output.note(`ATTENTION: ${unknown}.`);
      }
      return balance.balanced ? exitCodes.done : exitCodes.verificationFailed;
    },
    { timeoutMs: sumTimeoutMs },
  );
}

function describe(output: Output, balance: TrialBalance, exponent: number): string {
  const { startsAt, endsAt, close, moved, functionalCurrency } = balance;
  const parts = [
    `from ${startsAt ?? "the beginning"} up to ${endsAt}`,
    balanceTable(output, balance, exponent),
  ];
  if (close !== null && moved.length === 0) {
    parts.push(`as it was closed at ${close.closedAt}`);
  }
  if (close !== null && moved.length > 0) {
    parts.push(
      `MOVED since ${printable(close.periodId)} was closed at ${close.closedAt}:\n` +
        movedTable(output, moved, functionalCurrency, exponent),
    );
  }
  return parts.join("\n\n");
}
