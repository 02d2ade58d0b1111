// From the flags of `entry post` and `entry reverse` to the body of a request.
import type { EntryInput, ReversalInput } from "../../../client/ledger-client.ts";
import { clientEntryTypes, type JsonObject } from "../../../core/journal.ts";
import { requireMoment, requireOneOf } from "../../input/arguments.ts";
import type { CurrencyFlags } from "../../input/currency-guard.ts";
import {
  amountsOfLine,
  parseTypedAmount,
  type LedgerUnits,
  type TypedAmount,
} from "../../input/typed-amount.ts";
import { usageFailure } from "../../failure.ts";

export interface LabelFlags {
  externalId?: string;
  date?: string;
  description?: string;
  meta?: string[];
}

/** Of `entry post`, where no file has the entry. */
export interface EntryFlags extends LabelFlags, CurrencyFlags {
  line?: string[];
  /** Amounts are in major units. */
  major?: boolean;
  type?: string;
}

/** What both bodies have in common; members that were not given are left out. */
export function readLabels(flags: LabelFlags): ReversalInput {
  const { externalId, date, description, meta = [] } = flags;
  return {
    ...(externalId === undefined ? {} : { externalId }),
    ...(date === undefined ? {} : { transactionDate: requireMoment("--date", date) }),
    ...(description === undefined ? {} : { description }),
    ...(meta.length === 0 ? {} : { metadata: readMetadata(meta) }),
  };
}

function readMetadata(pairs: readonly string[]): JsonObject {
  const members = new Map<string, string>();
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 1) throw usageFailure(`--meta must be KEY=VALUE, not ${pair}`);
    const key = pair.slice(0, equals);
    if (members.has(key)) throw usageFailure(`--meta names ${key} twice`);
    members.set(key, pair.slice(equals + 1));
  }
  return Object.fromEntries(members);
}

/** A line of `--line`, of which only the form was looked at. */
export interface TypedLine {
  readonly glAccountCode: string;
  readonly amount: TypedAmount;
  /** How messages name it. */
  readonly argument: string;
}

/** The lines that flags describe: `CODE:AMOUNT` each. Throws a usage failure. */
export function readLineFlags({ line = [], ...flags }: EntryFlags): TypedLine[] {
  return line.map((text) => {
    // A code may hold colons itself.
    const colon = text.lastIndexOf(":");
    const argument = `--line ${text}`;
    const amount = colon < 1 ? null : parseTypedAmount(argument, text.slice(colon + 1), flags);
    if (amount === null) {
      throw usageFailure(
        `--line must be CODE:AMOUNT, such as 1000:+12500, or CODE:AMOUNT with a currency and its rate, such as ` +
          `1100:+100000USD@0.92, not ${text}`,
      );
    }
    return { glAccountCode: text.slice(0, colon), amount, argument };
  });
}

/** The entry that flags describe, with lines that were read before. Throws a usage failure. */
export function entryOfFlags(
  flags: EntryFlags,
  lines: readonly TypedLine[],
  units: LedgerUnits,
): EntryInput {
  const { type } = flags;
  return {
    ...readLabels(flags),
    ...(type === undefined ? {} : { entryType: requireEntryType("--type", type) }),
    lines: lines.map(({ glAccountCode, amount, argument }) => ({
      glAccountCode,
      ...amountsOfLine(argument, amount, units),
    })),
  };
}

/** A type that clients may post, in any case. */
export function requireEntryType(
  argument: string,
  value: string,
): (typeof clientEntryTypes)[number] {
  const type = value.toUpperCase();
  if (type === "REVERSAL") {
    throw usageFailure(`${argument} can't be REVERSAL: \`ledgerctl entry reverse ID\` makes one`);
  }
  return requireOneOf(argument, type, clientEntryTypes);
}
