// Amounts as people write them, in major units, to and from smallest units. Text and bigint only, no
// floats.

export type ParsedAmount =
  | { readonly amount: bigint; readonly fault?: never }
  | { readonly fault: string; readonly amount?: never };

const majorAmount = /^([+-]?)([0-9]+)(?:\.([0-9]+))?$/;

/**
 * Reads an amount in major units, such as `-125.00`, into smallest units of a currency with `exponent`
 * decimals. Fewer decimals are fine; more are a fault even where they are zeros, since they hint at
 * another currency.
 */
export function parseMajorAmount(text: string, exponent: number): ParsedAmount {
  const match = majorAmount.exec(text);
  if (match === null) return { fault: "must be a number such as 125 or -125.00" };
  const [, sign, whole = "", decimals = ""] = match;
  if (decimals.length > exponent) {
    const allowed = exponent === 0 ? "none" : `only ${exponent}`;
    const count = decimals.length === 1 ? "1 decimal" : `${decimals.length} decimals`;
    return { fault: `has ${count}, but its currency has ${allowed}` };
  }
  const magnitude = BigInt(whole + decimals.padEnd(exponent, "0"));
  return { amount: sign === "-" ? -magnitude : magnitude };
}

/** Writes smallest units in major units with all `exponent` decimals: `-12500` is `-125.00` at 2. */
export function formatMajorAmount(amount: bigint, exponent: number): string {
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(exponent + 1, "0");
  if (exponent === 0) return sign + digits;
  return `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}
