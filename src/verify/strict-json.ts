// JSON of files that are not trusted: a text that could be read in two ways is refused.
import { parseExactJson, type ExactJson } from "../contract/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../core/journal.ts";
import type { ReadDocument } from "./documents.ts";

/**
 * Reads one JSON object (RFC 8259, and I-JSON, RFC 7493). A fault is text that is no JSON object, a name
 * that occurs twice in one object, lone surrogates and numbers that a double can't hold: what is hashed is
 * the double, and two such numbers would be one.
 */
export function readStrictJson(text: string): ReadDocument<JsonObject> {
  let read: ExactJson;
  try {
    read = parseExactJson(text);
  } catch {
    return { fault: "is not JSON" };
  }
  const value = read.value as JsonValue;
  if (!isJsonObject(value)) return { fault: "is not a JSON object" };
  const fault = brokenValue(value);
  if (fault !== null) return { fault };
  const [inexact] = read.inexactNumbers;
  if (inexact !== undefined) {
    return { fault: `has a number that a double can't hold: ${inexact.text.slice(0, 40)}` };
  }
  const repeated = repeatedName(text);
  return repeated === null
    ? { document: value }
    : { fault: `has ${JSON.stringify(repeated)} twice` };
}

/** Far deeper than an entry may be nested; a deeper file could exhaust the stack. */
const depthMax = 500;

function brokenValue(value: JsonValue, depth = 0): string | null {
  if (depth > depthMax) return `is nested more than ${depthMax} deep`;
  if (typeof value === "number")
    return Number.isFinite(value) ? null : "has a number beyond a double";
  if (typeof value === "string") return value.isWellFormed() ? null : "has a lone surrogate";
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const fault =
      (name.isWellFormed() ? null : "has a lone surrogate") ?? brokenValue(member, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;

/** The first name that an object of valid JSON has twice. */
function repeatedName(text: string): string | null {
  const open: (Set<string> | null)[] = [];
  let last = "";
  for (const [part] of text.matchAll(token)) {
    if (part === "{") open.push(new Set());
    else if (part === "[") open.push(null);
    else if (part === "}" || part === "]") open.pop();
    else if (part === ":") {
      const name = JSON.parse(last) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    last = part;
  }
  return null;
}
