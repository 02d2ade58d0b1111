// Account codes and currencies as names that hledger and beancount can read. The same code always has the same name, no
// two have one name, and from a name one comes back to the code: docs/cli.md tells people how.
import { createHash } from "node:crypto";
import type { AccountType } from "../../../core/ledger.ts";

const roots: Readonly<Record<AccountType, string>> = {
  asset: "Assets",
  liability: "Liabilities",
  equity: "Equity",
  income: "Income",
  expense: "Expenses",
};

/** No part of a code is written like this: behind a hyphen come two hex digits. */
const untypedRoot = "Equity:X-untyped";

/**
 * `Assets:1000`; for `wallets:USD`, a liability, `Liabilities:Xwallets:USD`. Colons part accounts from their parents.
 * Letters and digits stay; any other character is its UTF-8 bytes, each as `-` and two hex digits. A part that does
 * not begin with a digit or a capital, or begins with an X, has an X put before it.
 */
export function accountName(glAccountCode: string, type: AccountType | null): string {
  const root = type === null ? untypedRoot : roots[type];
  return [root, ...glAccountCode.split(":").map(accountPart)].join(":");
}

function accountPart(part: string): string {
  const escaped = part.replace(/[^\p{L}\p{Nd}]/gu, hexOf);
  return /^(?!X)[\p{Lu}\p{Nd}]/u.test(escaped) ? escaped : `X${escaped}`;
}

function hexOf(character: string): string {
  return [...Buffer.from(character, "utf8")]
    .map((byte) => `-${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}

const hashDigits = 10;
const readableLengthMax = 13;

/**
 * A code that is a name already (`USD`) stays. Any other becomes what of it can stand in a name, a hyphen and the
 * first ten hex digits of the SHA-256 of the code: `POINTS-4C5B8F0E1A` for `points`. The declaration tells the code.
 */
export function commodityName(currency: string): string {
  if (/^[A-Z][A-Z0-9'._-]{0,22}[A-Z0-9]$/.test(currency) && !looksHashed.test(currency)) {
    return currency;
  }
  const readable = currency.toUpperCase().replace(/[^A-Z0-9]/g, "");
  const begun = /^[A-Z]/.test(readable) ? readable : `C${readable}`;
  const hash = createHash("sha256").update(currency, "utf8").digest("hex").toUpperCase();
  return `${begun.slice(0, readableLengthMax)}-${hash.slice(0, hashDigits)}`;
}

/** A code that looks like a name of ours is given one, so that no two have the same. */
const looksHashed = /-[0-9A-F]{10}$/;
