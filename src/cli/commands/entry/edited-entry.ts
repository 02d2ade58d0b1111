// An entry as a text that somebody edits: written out, and read again.
import { parseExactJson, type ExactJson } from "../../../contract/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../../core/journal.ts";
import { messageOf } from "../../../core/thrown.ts";
import type { Timestamp } from "../../../core/time.ts";
import { CommandFailure, usageFailure } from "../../failure.ts";
import { requireMoment } from "../../input/arguments.ts";
import type { CurrencyFlags } from "../../input/currency-guard.ts";
import { valueFault } from "../../input/entry-files/entry-text.ts";
import { parseTypedAmount, type TypedAmount } from "../../input/typed-amount.ts";
import { requireEntryType } from "./entry-flags.ts";

/** Something wrong, and on which line of the text, from 1; null: with all of it. */
export interface EditFault {
  readonly line: number | null;
  readonly detail: string;
}

export interface EditedLine {
  readonly glAccountCode: string;
  readonly amount: TypedAmount;
  readonly description: string | null;
  /** The line of the text. */
  readonly at: number;
}

/** What was read; members that were left empty are missing. */
export interface EditedEntry {
  readonly labels: Partial<Labels>;
  readonly lines: readonly EditedLine[];
  readonly faults: readonly EditFault[];
  /** The line of the text that has what a JSON pointer of the API names. */
  readonly placeOf: (pointer: string) => number | null;
}

interface Labels {
  transactionDate: Timestamp;
  entryType: ReturnType<typeof requireEntryType>;
  description: string;
  externalId: string;
  metadata: JsonObject;
}

const names = ["date", "type", "description", "externalId", "metadata"] as const;
type Name = (typeof names)[number];

const readers: Readonly<Record<Name, (text: string, argument: string) => Partial<Labels>>> = {
  date: (text, argument) => ({ transactionDate: requireMoment(argument, text) }),
  type: (text, argument) => ({ entryType: requireEntryType(argument, text) }),
  description: (text, argument) => ({ description: requireText(argument, text) }),
  externalId: (text, argument) => ({ externalId: requireText(argument, text) }),
  metadata: (text, argument) => ({ metadata: requireObject(argument, text) }),
};

/** Whether there is nothing but comments. */
export function isEmptied(text: string): boolean {
  return linesOf(text).length === 0;
}

/** Reads the text. Faults of single lines are found all at once. */
export function readEditedEntry(text: string, flags: CurrencyFlags): EditedEntry {
  const labels: Partial<Labels> = {};
  const places = new Map<string, number>();
  const lines: EditedLine[] = [];
  const faults: EditFault[] = [];
  for (const { line, content } of linesOf(text)) {
    try {
      const [, name, value = ""] = labelLine.exec(content) ?? [];
      if (name === undefined) lines.push(readLine(content, line, flags));
      else {
        if (places.has(name)) throw usageFailure(`${name} is there twice`);
        places.set(name, line);
        if (value !== "") Object.assign(labels, readers[name as Name](value, name));
      }
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      faults.push({ line, detail: messageOf(error) });
    }
  }
  const placeOf = (pointer: string) => {
    const [, member = "", index] = /^#\/(\w+)(?:\/(\d+))?/.exec(pointer) ?? [];
    if (member === "lines") return index === undefined ? null : (lines[Number(index)]?.at ?? null);
    return places.get(nameOfMember[member] ?? member) ?? null;
  };
  return { labels, lines, faults, placeOf };
}

const nameOfMember: Readonly<Record<string, Name>> = { transactionDate: "date", entryType: "type" };

/** A line that is about all of the entry; a line separator of Unicode (U+2028) ends no line here. */
export const labelLine = new RegExp(`^(${names.join("|")}):\\s*(.*)$`, "s");

function linesOf(text: string): { line: number; content: string }[] {
  return text
    .split("\n")
    .map((content, index) => ({ line: index + 1, content: content.trim() }))
    .filter(({ content }) => content !== "" && !content.startsWith("#"));
}

/** The account, its amount, and behind a semicolon what describes the line. */
function readLine(content: string, at: number, flags: CurrencyFlags): EditedLine {
  const quotedCode = quoted.exec(content)?.[0] ?? "";
  const [unquoted = "", ...more] = content.slice(quotedCode.length).split(";");
  const description = more.join(";").trim();
  const texts = unquoted.trimEnd();
  // A code may have blanks in it: the amount begins behind the first after which there is one.
  for (const gap of texts.matchAll(/\s+/g)) {
    const code = quotedCode + texts.slice(0, gap.index);
    const amountText = texts.slice(gap.index + gap[0].length);
    const amount = parseTypedAmount(`${code} ${amountText}`, amountText, flags);
    if (amount === null) continue;
    return {
      glAccountCode: requireText("the account", code),
      amount,
      description: description === "" ? null : requireText("the description", description),
      at,
    };
  }
  throw usageFailure(
    `a line is an account and an amount, such as 1000  125.00 or 1100  100.00 USD @ 0.92, not ${content}`,
  );
}

const quoted = /^"(?:[^"\\]|\\.)*"/;

/** A text that begins with a quote is JSON, for all that would be read as something else. */
function requireText(argument: string, text: string): string {
  if (!text.startsWith('"')) return text;
  const { value } = requireJson(argument, text);
  if (typeof value === "string") return value;
  throw usageFailure(`${argument} begins with a quote, and is no text of JSON`);
}

function requireObject(argument: string, text: string): JsonObject {
  const json = requireJson(argument, text);
  const fault = valueFault(json);
  if (fault !== null) throw usageFailure(`${argument}: ${fault}`);
  if (!isJsonObject(json.value)) throw usageFailure(`${argument} must be a JSON object`);
  return json.value;
}

function requireJson(argument: string, text: string): ExactJson {
  try {
    return parseExactJson(text);
  } catch (error) {
    throw usageFailure(`${argument} is no JSON: ${messageOf(error)}`);
  }
}
