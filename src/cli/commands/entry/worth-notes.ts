// What the lines of an entry come to, said before they are posted.
import type { EntryInput, EntryLineInput } from "../../../client/ledger-client.ts";
import type { LedgerUnits } from "../../input/typed-amount.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import type { Output } from "../../terminal/output.ts";
import { valueOf } from "./made-entries.ts";

/** Notes each line in another currency: `1100: 1000.00 USD at 0.92 is 920.00 EUR`. */
export function noteWorth(output: Output, { lines }: EntryInput, units: LedgerUnits): void {
  for (const { glAccountCode, functionalAmount, ...line } of lines) {
    const { transactionAmount, transactionCurrency, spotRate } = line;
    if (typeof transactionAmount !== "string" || typeof transactionCurrency !== "string") continue;
    const rate = typeof spotRate === "number" ? ` at ${spotRate}` : "";
    const amount = shown(transactionAmount, transactionCurrency, units);
    const worth = shown(functionalAmount, units.functionalCurrency, units);
    output.note(`${glAccountCode}: ${amount}${rate} is ${worth}`);
  }
}

const linesNoted = 8;

/** Notes an entry whose content its caller did not write out: `Rent: 5000 850.00 EUR, 1100 -850.00 EUR`. */
export function noteContent(
  output: Output,
  { description, lines }: EntryInput,
  units: LedgerUnits,
): void {
  const moved = lines.slice(0, linesNoted).map(({ glAccountCode, functionalAmount }) => {
    return `${glAccountCode} ${shown(functionalAmount, units.functionalCurrency, units)}`;
  });
  const more = lines.length > linesNoted ? ` and ${lines.length - linesNoted} more` : "";
  output.note(`${description ?? "no description"}: ${moved.join(", ")}${more}`);
}

/** What is wrong with the sum of lines, in major units; null where it is zero. */
export function sumFault(lines: readonly EntryLineInput[], units: LedgerUnits): string | null {
  const sum = valueOf(lines);
  if (sum === 0n) return null;
  return `the lines must sum to zero, and sum to ${shown(sum, units.functionalCurrency, units)}`;
}

function shown(amount: bigint | string, currency: string, { exponentOf }: LedgerUnits): string {
  return displayAmount(amount, currency, exponentOf(currency));
}
