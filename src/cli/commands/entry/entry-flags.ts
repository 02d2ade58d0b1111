// From the flags of `entry post` and `entry reverse` to the body of a request.
import type { EntryInput, EntryLineInput, ReversalInput } from "../../../client/ledger-client.ts";
import type { JsonObject } from "../../../core/journal.ts";
import { parseMajorAmount } from "../../../core/money.ts";
import { requireMoment, type MajorUnit } from "../../input/arguments.ts";
import { usageFailure } from "../../failure.ts";

export interface LabelFlags {
  externalId?: string;
  date?: string;
  description?: string;
  meta?: string[];
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

/** The entry that flags describe. `majorOf`: amounts are in major units of it; null: in smallest units. */
export function readEntryFlags(
  flags: LabelFlags & { line?: readonly string[] },
  majorOf: MajorUnit | null,
): EntryInput {
  return {
    ...readLabels(flags),
    lines: (flags.line ?? []).map((line) => readLine(line, majorOf)),
  };
}

/** `CODE:AMOUNT`; a code may hold colons itself. */
function readLine(text: string, majorOf: MajorUnit | null): EntryLineInput {
  const colon = text.lastIndexOf(":");
  if (colon < 1) throw usageFailure(`--line must be CODE:AMOUNT, not ${text}`);
  const amountText = text.slice(colon + 1);
  return {
    glAccountCode: text.slice(0, colon),
    functionalAmount:
      majorOf === null
        ? readSmallestUnits(text, amountText)
        : readMajorUnits(text, amountText, majorOf),
  };
}

function readSmallestUnits(line: string, text: string): string {
  if (/^[+-]?[0-9]+$/.test(text)) return BigInt(text.replace(/^\+/, "")).toString();
  const hint = /^[+-]?[0-9]+\.[0-9]+$/.test(text) ? "; with --major it may have decimals" : "";
  throw usageFailure(`--line ${line}: ${text || "the amount"} is no whole number${hint}`);
}

function readMajorUnits(
  line: string,
  text: string,
  { code: currency, exponent }: MajorUnit,
): string {
  const { amount, fault } = parseMajorAmount(text, exponent);
  if (fault !== undefined) throw usageFailure(`--line ${line}: ${currency} ${text} ${fault}`);
  return amount.toString();
}
