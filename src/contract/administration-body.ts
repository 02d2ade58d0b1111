// Bodies of administration: accounts to be made or renamed, and changes to the rule of an asset.
import * as z from "zod";
import { parseRate } from "../core/asset.ts";
import { currencyExponents } from "../core/currencies.ts";
import { validationRefusal } from "../core/errors.ts";
import { accountTypes } from "../core/ledger.ts";
import { bulkItemsMax, fault, label, oneOf, optional, wrongType } from "./field-schemas.ts";
import { parseBy } from "./schema-faults.ts";

const notObject = { error: "must be a JSON object" };

export const accountBody = z.strictObject(
  {
    glAccountCode: label,
    name: label,
    type: optional(oneOf(accountTypes)),
    active: optional(z.boolean({ error: "must be true or false" })),
  },
  notObject,
);

export const accountsBody = z.strictObject(
  {
    accounts: z
      .array(accountBody, { error: "must be an array of accounts" })
      .min(1, { error: "must have at least one account" })
      .max(bulkItemsMax, { error: `must have at most ${bulkItemsMax} accounts` })
      .superRefine(refuseRepeated),
  },
  notObject,
);

/** Two rows for one account would be two wishes of one moment. */
function refuseRepeated(
  accounts: readonly { readonly glAccountCode: string }[],
  context: z.RefinementCtx,
): void {
  const places = new Map<string, number>();
  accounts.forEach(({ glAccountCode }, index) => {
    const first = places.get(glAccountCode);
    if (first === undefined) places.set(glAccountCode, index);
    else {
      const message = `is the same as in accounts/${first}`;
      context.addIssue({ code: "custom", path: [index, "glAccountCode"], message });
    }
  });
}

/** Of no asset in use more than 18: a wei is 10^-18 of an ether. */
export const exponentMax = 18;

/** What a member of a change says to take a limit or a rate away. */
export const none = "none";

const decimal =
  "an exact decimal above zero, such as 1.0845, of at most 38 digits before the point and 38 after it";
const limitText = "a whole number of smallest units, 0 or more, as a string of at most 38 digits";

const ratePattern = "^(?:none|[1-9][0-9]{0,37}(?:\\.[0-9]{1,38})?|0\\.(?=0*[1-9])[0-9]{1,38})$";

const rate = z
  .string(wrongType(`a string: ${decimal}`))
  .check(
    fault((value) =>
      value === none || parseRate(value) !== null ? null : `must be ${decimal}, or "${none}"`,
    ),
  )
  .meta({ description: `${decimal}; or "${none}"`, pattern: ratePattern });

const limit = z
  .string(wrongType(`a string: ${limitText}`))
  .regex(/^(?:0|[1-9][0-9]{0,37}|none)$/, { error: `must be ${limitText}, or "${none}"` });

const exponent = z
  .int({ error: `must be a whole number from 0 to ${exponentMax}` })
  .min(0, { error: "must be at least 0" })
  .max(exponentMax, { error: `must be at most ${exponentMax}` });

export const assetRuleBody = z.strictObject(
  {
    rate: optional(rate),
    exponent: optional(exponent),
    walletsAccount: optional(label),
    clearingAccount: optional(label),
    overdraftLimit: optional(limit),
    maxBalance: optional(limit),
    dailyDebitMax: optional(limit),
  },
  notObject,
);

/** Reads accounts to be made or renamed. Throws `validation` with every fault. */
export function parseAccountsBody(body: unknown): z.output<typeof accountsBody>["accounts"] {
  return parseBy(accountsBody, body).accounts;
}

/** What a change of an asset's rule may name; what it leaves out stays as it is. */
export interface AssetRuleWish {
  readonly rate?: string | null;
  readonly exponent?: number;
  readonly walletsAccount?: string;
  readonly clearingAccount?: string;
  readonly overdraftLimit?: bigint;
  /** null: no limit. */
  readonly maxBalance?: bigint | null;
  readonly dailyDebitMax?: bigint | null;
}

/** Reads a change of an asset's rule, for a code as it is kept. Throws `validation` with every fault. */
export function parseAssetRuleBody(assetCode: string, body: unknown): AssetRuleWish {
  const given = parseBy(assetRuleBody, body);
  const own = currencyExponents.get(assetCode);
  if (own !== undefined && given.exponent !== null && given.exponent !== own) {
    const detail = `of ${assetCode} is ${own}, as ISO 4217 has it`;
    throw validationRefusal([{ path: ["exponent"], detail }]);
  }
  const { rate, exponent, walletsAccount, clearingAccount, ...limits } = given;
  const { overdraftLimit, maxBalance, dailyDebitMax } = limits;
  return {
    ...(rate === null ? {} : { rate: rate === none ? null : rate }),
    ...(exponent === null ? {} : { exponent }),
    ...(walletsAccount === null ? {} : { walletsAccount }),
    ...(clearingAccount === null ? {} : { clearingAccount }),
    // A wallet may go below zero by nothing unless a rule says otherwise.
    ...(overdraftLimit === null
      ? {}
      : { overdraftLimit: overdraftLimit === none ? 0n : BigInt(overdraftLimit) }),
    ...(maxBalance === null ? {} : { maxBalance: limitOf(maxBalance) }),
    ...(dailyDebitMax === null ? {} : { dailyDebitMax: limitOf(dailyDebitMax) }),
  };
}

function limitOf(text: string): bigint | null {
  return text === none ? null : BigInt(text);
}
