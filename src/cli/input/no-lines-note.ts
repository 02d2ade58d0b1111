// Zero is an answer also to a currency that was mistyped: it is said that there is nothing in it.
import { currencyExponents } from "../../core/currencies.ts";
import type { Output } from "../terminal/output.ts";

/**
 * Notes, for people, that an account has no lines in a currency, in a part of the books such as `up to 2026-03-31` (null: in
 * all), and which currency may be meant.
 */
export function noteNoLines(
  output: Output,
  account: string,
  currency: string,
  part: string | null,
): void {
  if (output.isForPrograms) return;
  const upper = currency.toUpperCase();
  const isMistyped = upper !== currency && currencyExponents.has(upper);
  const meant = isMistyped ? `; did you mean ${upper}?` : "";
  const where = part === null ? "" : ` ${part}`;
  output.note(`account ${account} has no lines in ${currency}${where}${meant}`);
}
