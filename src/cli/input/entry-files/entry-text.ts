// From the JSON text of one entry to its body, or to what is wrong with it. Nothing of a body that
// passes changes when it is written as JSON again.
import { parseExactJson, type ExactJson } from "../../../contract/exact-json.ts";
import { isJsonObject } from "../../../core/journal.ts";
import { findBrokenUtf8 } from "./byte-lines.ts";
import type { Found } from "./file-entry.ts";
import { findJsonFault, memberName, positionOf } from "./json-fault.ts";

interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Deeper than any entry that the service takes, and shallow enough for recursion. */
const depthMax = 128;

export function readEntryText(bytes: Buffer, start: TextPosition): Found {
  const { line } = start;
  const brokenLine = findBrokenUtf8(bytes, line);
  if (brokenLine !== null) return { line, fault: `line ${brokenLine}: not valid UTF-8` };
  const text = bytes.toString("utf8");
  let json: ExactJson;
  try {
    json = parseExactJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { line, fault: describeSyntax(text, start) };
  }
  const { value } = json;
  const fault = valueFault(json);
  if (fault !== null) return { line, fault: `line ${line}: ${fault}` };
  return isJsonObject(value)
    ? { line, body: value }
    : { line, fault: `line ${line}: an entry must be a JSON object` };
}

/** What of a well-formed value can't be passed on as it is; null when nothing. */
export function valueFault({ value, inexactNumbers }: ExactJson): string | null {
  const [inexact] = inexactNumbers;
  if (inexact !== undefined) {
    const { path, text } = inexact;
    const number = text.length > 60 ? `${text.slice(0, 60)}…` : text;
    return `${memberName(path)}: ${number} can't be held exactly; write it as a string`;
  }
  return isDeeperThan(value, depthMax) ? `nested more than ${depthMax} deep` : null;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}

/** `line 3, column 17 (lines[0].functionalAmount): …` */
function describeSyntax(text: string, start: TextPosition): string {
  const fault = findJsonFault(text) ?? { offset: 0, path: [], reason: "not JSON" };
  const within = positionOf(text, fault.offset);
  const line = start.line + within.line - 1;
  const column = within.column + (within.line === 1 ? start.column - 1 : 0);
  const member = memberName(fault.path);
  return `line ${line}, column ${column}${member === "" ? "" : ` (${member})`}: ${fault.reason}`;
}
