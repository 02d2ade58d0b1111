// Arguments that are whole numbers.
import { usageFailure } from "../failure.ts";

/** A whole number from `min` to `max`, or a usage failure that names the argument. */
export function requireWholeNumber(
  argument: string,
  text: string,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max)) {
    const range = max === Number.MAX_SAFE_INTEGER ? `, ${min} or more` : ` from ${min} to ${max}`;
    throw usageFailure(`${argument} must be a whole number${range}`);
  }
  return value;
}
