// Amounts as banks write them, in major units, exactly. What could be read in two ways is refused.
import { parseMajorAmount } from "../../../core/money.ts";

export interface BankAmount {
  /** Smallest units. */
  readonly amount: bigint;
  /** What stands beside the number: a code or a sign; empty for none. */
  readonly unit: string;
}

type Read<Value> =
  | { readonly value: Value; readonly fault?: never }
  | { readonly fault: string; readonly value?: never };

/** Reads `-1.234,56`, `(12.00)`, `EUR 12`, `12.00-` or `$-3`; `exponent`: the decimals of the currency. */
export function readBankAmount(
  text: string,
  decimalMark: "." | "," | null,
  exponent: number,
): Read<BankAmount> {
  const compact = text.replace(/[\s\u00a0\u202f']/gu, "");
  const isParenthesized = /^\(.*\)$/.test(compact);
  const bare = isParenthesized ? compact.slice(1, -1) : compact;
  const match = /^([+-]?)([^0-9.,+-]*)([+-]?)([0-9.,]*[0-9][.,]?)([+-]?)([^0-9.,+-]*)$/u.exec(bare);
  if (match === null) return { fault: `${JSON.stringify(text)} is no amount` };
  const [, sign1 = "", before = "", sign2 = "", digits = "", sign3 = "", after = ""] = match;
  const signs = sign1 + sign2 + sign3;
  if (signs.length > 1 || (before !== "" && after !== "") || (isParenthesized && signs !== "")) {
    return { fault: `${JSON.stringify(text)} is no amount` };
  }
  const number = plainNumber(digits, decimalMark);
  if (number.fault !== undefined) return { fault: `${JSON.stringify(text)} ${number.fault}` };
  // Zeros behind what a currency has say nothing, and some banks write them.
  const [whole = "", decimals = ""] = number.value.split(".");
  const kept = decimals.slice(0, exponent) + decimals.slice(exponent).replace(/0+$/, "");
  const { amount, fault } = parseMajorAmount(kept === "" ? whole : `${whole}.${kept}`, exponent);
  if (fault !== undefined) return { fault: `${JSON.stringify(text)} ${fault}` };
  const isNegative = isParenthesized || signs === "-";
  return { value: { amount: isNegative ? -amount : amount, unit: before + after } };
}

/** The number with a point, and without what groups its digits. */
function plainNumber(digits: string, decimalMark: "." | "," | null): Read<string> {
  const marks = [...new Set(digits.match(/[.,]/g) ?? [])];
  const last = digits.match(/[.,](?=[0-9]*$)/)?.[0] ?? null;
  let mark: string | null = decimalMark;
  if (mark === null && marks.length === 2) mark = last;
  if (mark === null && marks.length === 1) {
    const [only = ""] = marks;
    const groups = digits.split(only);
    const isGrouped = groups.slice(1).every((group) => group.length === 3);
    if (groups.length === 2 && isGrouped && groups[0] !== "" && groups[0] !== "0") {
      return { fault: "can be read in two ways; say decimal-mark in the rules" };
    }
    mark = groups.length === 2 ? only : only === "." ? "," : ".";
  }
  const grouping = mark === "," ? "." : ",";
  const [whole = "", decimals = "", ...more] = digits.split(mark ?? "none");
  const groups = whole.split(grouping);
  const isWhole = groups.length === 1 || groups.slice(1).every((group) => group.length === 3);
  if (more.length > 0 || decimals.includes(grouping) || !isWhole) return { fault: "is no amount" };
  return { value: `${groups.join("") || "0"}${decimals === "" ? "" : `.${decimals}`}` };
}

const signsOf: Readonly<Record<string, readonly string[]>> = {
  "€": ["EUR"],
  "£": ["GBP"],
  $: ["USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"],
  "¥": ["JPY", "CNY"],
  "₹": ["INR"],
  CHF: ["CHF"],
};

/** Whether what stands beside a number is a currency; nothing is any. */
export function isUnitOf(unit: string, currency: string): boolean {
  if (unit === "") return true;
  // Codes of ISO 4217 are in upper case; of others the case is a part.
  return (
    [unit, unit.toUpperCase()].includes(currency) || (signsOf[unit]?.includes(currency) ?? false)
  );
}
