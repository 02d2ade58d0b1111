// Arguments of commands: checked before anything is opened, with messages that name them.
import { parseAssetCode } from "../../core/asset.ts";
import { readPeriodLabel } from "../../core/period.ts";
import { labelCodePointsMax, parseUuid, textFault } from "../../core/text.ts";
import { dayFault, parseTimestamp, timestampFromEpochMs, type Timestamp } from "../../core/time.ts";
import { usageFailure } from "../failure.ts";

/** A name, code or label of 1 to 256 characters. */
export function requireLabel(argument: string, value: string): string {
  const fault = textFault(value, labelCodePointsMax);
  if (fault !== null) throw usageFailure(`${argument} ${fault}`);
  return value;
}

/** The label of a period: one that looks like a date and is none is a usage failure. */
export function requirePeriodLabel(argument: string, value: string): string {
  const label = requireLabel(argument, value);
  const meaning = readPeriodLabel(label);
  if (typeof meaning === "object" && "fault" in meaning) {
    throw usageFailure(`${argument} ${JSON.stringify(label)} ${meaning.fault}`);
  }
  return label;
}

/** The currency or asset that amounts in major units are of. */
export interface MajorUnit {
  readonly code: string;
  readonly exponent: number;
}

/** One of a few words. */
export function requireOneOf<Word extends string>(
  argument: string,
  value: string,
  words: readonly Word[],
): Word {
  const word = words.find((known) => known === value);
  if (word === undefined) throw usageFailure(`${argument} must be one of ${words.join(", ")}`);
  return word;
}

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

/** A UUID in any case. `hint`: a sentence for who gives something else. */
export function requireId(argument: string, value: string, hint: string | null = null): string {
  const id = parseUuid(value);
  if (id !== null) return id;
  throw usageFailure([`${argument} is not a UUID`, ...(hint === null ? [] : [hint])].join(". "));
}

/** The id of an entry, for the service to find; what a shell makes of a variable without a value is a usage failure. */
export function requireEntryId(value: string): string {
  if (value !== "") return value;
  throw usageFailure("ID is empty; `ledgerctl entry list` shows the ids of entries");
}

/** A currency or another unit of account; one that equals an ISO 4217 code in any case is that code. */
export function requireCurrency(argument: string, value: string): string {
  const code = parseAssetCode(value);
  if (code !== null) return code;
  throw usageFailure(`${argument} must be 1 to 32 letters, digits or _ . : / -`);
}

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** A duration such as `30s`, `10m`, `12h` or `90d`, in milliseconds. */
export function requireDurationMs(argument: string, value: string): number {
  const match = /^([1-9][0-9]{0,8})([smhd])$/.exec(value);
  if (match === null) {
    throw usageFailure(`${argument} must be a duration such as 30s, 10m, 12h or 90d`);
  }
  return Number(match[1]) * unitSeconds[match[2] as keyof typeof unitSeconds] * 1000;
}

/** A day (`2026-03-15`, its first instant in UTC) or an ISO 8601 date and time with an offset. */
export function requireMoment(argument: string, value: string): Timestamp {
  const moment = parseTimestamp(isDay(value) ? `${value}T00:00:00Z` : value);
  if (moment === null) {
    const fault = dayFault(value);
    if (fault !== null) throw usageFailure(`${argument} ${value} is no date: ${fault}`);
    throw usageFailure(
      `${argument} must be a day such as 2026-03-15 or a time such as 2026-03-15T09:30:00Z`,
    );
  }
  return moment;
}

/** A day, which means its last instant, or an ISO 8601 date and time with an offset. */
export function requireLastMoment(argument: string, value: string): Timestamp {
  const moment = requireMoment(argument, value);
  return isDay(value) ? (`${value}T23:59:59.999Z` as Timestamp) : moment;
}

/** An exclusive bound: a day, which means all of it, or an ISO 8601 date and time with an offset. */
export function requireEnd(argument: string, value: string): Timestamp {
  const moment = requireLastMoment(argument, value);
  return isDay(value) ? momentAfter(moment) : moment;
}

/** The next moment; that of the last of all times is itself. */
export function momentAfter(moment: Timestamp): Timestamp {
  return timestampFromEpochMs(Date.parse(moment) + 1) ?? moment;
}

function isDay(value: string): boolean {
  return /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value);
}
