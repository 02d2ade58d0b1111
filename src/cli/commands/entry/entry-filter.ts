// Which entries `entry list` lists, and in which order: from its flags to the query of the API, page after page.
import {
  type Entry,
  type EntryListQuery,
  type EntryPage,
  type LedgerClient,
} from "../../../client/ledger-client.ts";
import { entryTypes } from "../../../core/journal.ts";
import { parseMajorAmount } from "../../../core/money.ts";
import { Exponents } from "../../connection/exponents.ts";
import { pageLimit, type Range } from "../../connection/pages.ts";
import { usageFailure } from "../../failure.ts";
import { requireMoment, requireOneOf, requirePeriodLabel } from "../../input/arguments.ts";

export interface FilterFlags {
  period?: string;
  account?: string;
  from?: string;
  to?: string;
  externalId?: string;
  text?: string;
  amount?: string;
  min?: string;
  max?: string;
  major?: boolean;
  type?: string;
  sort?: string;
  desc?: boolean;
  after?: string;
}

/** The filter and the order that flags name, but for amounts. Throws a usage failure. */
export function readFilter(flags: FilterFlags): EntryListQuery {
  const { period, account, from, to, externalId, text, type, sort, desc } = flags;
  if (flags.amount !== undefined && (flags.min ?? flags.max) !== undefined) {
    throw usageFailure("--amount excludes --min and --max");
  }
  if (sort === "date" && flags.after !== undefined) {
    throw usageFailure("--after is a sequence, which goes with --sort sequence");
  }
  return {
    ...(period === undefined ? {} : { periodId: requirePeriodLabel("--period", period) }),
    ...(account === undefined ? {} : { glAccountCode: account }),
    ...(from === undefined ? {} : { from: requireMoment("--from", from) }),
    ...(to === undefined ? {} : { to: requireMoment("--to", to) }),
    ...(externalId === undefined ? {} : { externalId }),
    ...(text === undefined ? {} : { text }),
    ...(type === undefined
      ? {}
      : { entryType: requireOneOf("--type", type.toUpperCase(), entryTypes) }),
    ...(sort === undefined ? {} : { order: requireOneOf("--sort", sort, ["sequence", "date"]) }),
    ...(desc === true ? { direction: "desc" as const } : {}),
  };
}

const amountFlags = { amount: "amount", min: "minAmount", max: "maxAmount" } as const;

/** The amounts that flags name, without their signs; with `--major`, in major units of the ledger's currency. */
export async function readAmounts(
  client: LedgerClient,
  ledgerId: string,
  flags: FilterFlags,
): Promise<EntryListQuery> {
  const given = (["amount", "min", "max"] as const).flatMap((flag) => {
    const text = flags[flag];
    return text === undefined ? [] : [{ flag, text }];
  });
  if (given.length === 0) return {};
  const isMajor = flags.major === true;
  const exponent = isMajor ? await ownExponent(client, ledgerId) : 0;
  const amounts = given.map(({ flag, text }) => ({
    flag,
    amount: readAmount(`--${flag} ${text}`, text, exponent, isMajor),
  }));
  const [min, max] = (["min", "max"] as const).map(
    (name) => amounts.find(({ flag }) => flag === name)?.amount,
  );
  if (min !== undefined && max !== undefined && max < min) {
    throw usageFailure("--max must not be smaller than --min");
  }
  return Object.fromEntries(
    amounts.map(({ flag, amount }) => [amountFlags[flag], amount.toString()]),
  );
}

/** The amount of a line without its sign: no line has 0. */
function readAmount(argument: string, text: string, exponent: number, isMajor: boolean): bigint {
  const { amount, fault } = parseMajorAmount(text, exponent);
  if (fault !== undefined) {
    const hint = isMajor ? "" : "; in smallest units, or in major ones with --major";
    throw usageFailure(`${argument} ${fault}${hint}`);
  }
  if (amount === 0n) throw usageFailure(`${argument}: no line has the amount 0`);
  return amount < 0n ? -amount : amount;
}

async function ownExponent(client: LedgerClient, ledgerId: string): Promise<number> {
  const { functionalCurrency } = await client.getLedger(ledgerId);
  const exponents = new Exponents(client, ledgerId);
  await exponents.learn([functionalCurrency]);
  return exponents.of(functionalCurrency);
}

/** The pages of a range: by sequence each begins after the last entry before it, by date at its place in the list. */
export async function* listedPages(
  read: (part: EntryListQuery) => Promise<EntryPage>,
  { order, direction }: EntryListQuery,
  { after, limit }: Range,
): AsyncGenerator<EntryPage> {
  const isByDate = order === "date";
  // Backwards, no sequence is the place of the first.
  let place: EntryListQuery = isByDate || (direction === "desc" && after === 0) ? {} : { after };
  let count = 0;
  for (let left = limit; left > 0;) {
    const page = await read({ ...place, limit: Math.min(left, pageLimit) });
    yield page;
    const { entries } = page;
    const last: Entry | undefined = entries.at(-1);
    if (!page.hasMore || last === undefined) return;
    left -= entries.length;
    count += entries.length;
    place = isByDate ? { offset: count } : { after: last.sequence };
  }
}
