// Amounts for a screen: major units, digits in groups of three.
import { formatMajorAmount } from "../../../core/money.ts";

/** `-1,234,567.00`, from smallest units of a currency with `exponent` decimals. */
export function majorText(amount: bigint | string, exponent: number): string {
  const [whole = "", decimals] = formatMajorAmount(BigInt(amount), exponent).split(".");
  const grouped = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}
