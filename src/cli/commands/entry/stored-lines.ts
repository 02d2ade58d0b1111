// Lines of a stored entry as somebody would post them: without what the service fills in by itself.
import type { EntryLine, EntryLineInput } from "../../../client/ledger-client.ts";

/** The same line; members that say nothing are left out. */
export function asInput(line: EntryLine): EntryLineInput {
  const { glAccountCode, functionalAmount, spotRate, description } = line;
  const isForeign = line.transactionCurrency !== line.functionalCurrency;
  return {
    glAccountCode,
    functionalAmount,
    ...(isForeign
      ? {
          transactionAmount: line.transactionAmount,
          transactionCurrency: line.transactionCurrency,
        }
      : {}),
    ...(spotRate === null ? {} : { spotRate }),
    ...(description === null ? {} : { description }),
  };
}

/** The line with its amounts negated. */
export function negated(line: EntryLineInput): EntryLineInput {
  const { functionalAmount, transactionAmount } = line;
  return {
    ...line,
    functionalAmount: String(-BigInt(functionalAmount)),
    ...(typeof transactionAmount === "string"
      ? { transactionAmount: String(-BigInt(transactionAmount)) }
      : {}),
  };
}
