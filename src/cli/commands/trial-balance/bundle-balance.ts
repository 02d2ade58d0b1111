// `trial-balance --bundle`: the trial balance that was closed, from the file alone.
import type { Environment } from "../../../config.ts";
import { isBalanced, totalsOf } from "../../../core/close.ts";
import { wireBalanceRow, wireTotals } from "../../../http/handlers/wire-balances.ts";
import { exponentShownOffline, unitLinesOffline } from "../../connection/exponents.ts";
import { exitCodes, type ExitCode } from "../../failure.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { balanceCsv, closedTable, unbalanced } from "../../terminal/balance-tables.ts";
import { Output } from "../../terminal/output.ts";
import { checkBundleFile } from "../merkle/check-close.ts";
import { findingLines } from "../merkle/verdict.ts";

interface BalanceFlags extends OutputFlags {
  csv?: boolean;
}

/** Resolves with 3 where it does not balance, or the bundle does not match itself. */
export async function showBundleBalance(
  file: string,
  flags: BalanceFlags,
  environment: Environment,
): Promise<ExitCode> {
  const output = new Output(flags, environment.isColorRefused);
  const { record, balances, verdict } = await checkBundleFile(file);
  const { functionalCurrency } = verdict;
  const totals = totalsOf(balances);
  const balanced = isBalanced(totals);
  if (flags.csv === true) {
    const accounts = balances.map((row) => ({ ...row, name: "", type: null }));
    output.verbatim(balanceCsv({ accounts, functionalCurrency }));
  } else {
    const { ledgerId, periodId, startsAt, endsAt, lastSequence } = record;
    const { ok, findings } = verdict;
    const exponent = exponentShownOffline(functionalCurrency, output);
    const document = {
      ...{ ok, ledgerId, functionalCurrency, periodId, startsAt, endsAt, lastSequence },
      accounts: balances.map(wireBalanceRow),
      ...{ totals: wireTotals(totals), balanced, close: record, findings },
    };
    output.result(document, () =>
      [
        [
          `from ${startsAt ?? "the beginning"} up to ${endsAt}`,
          ...unitLinesOffline([functionalCurrency], output),
        ].join("\n"),
        closedTable(output, balances, functionalCurrency, exponent),
        ...(balanced ? [] : [output.styled(unbalanced, "bad")]),
        `as the bundle says that it was closed at ${record.closedAt}`,
      ].join("\n\n"),
    );
  }
  if (!verdict.ok) {
    const lines = findingLines(verdict.findings, verdict.findingCount);
    output.warn(output.judged([`${file} does not match itself:`, ...lines].join("\n")));
  }
  return balanced && verdict.ok ? exitCodes.done : exitCodes.verificationFailed;
}
