// Parameters of statements as the simulated database reads them: texts, and array literals as the store writes them.
import type { Timestamp } from "../../../src/core/time.ts";

type Text = string | null | undefined;

/** A parameter that has to be there. */
export function text(parameter: Text): string {
  if (parameter === null || parameter === undefined) throw new Error("a parameter is missing");
  return parameter;
}

export function time(parameter: Text): Timestamp {
  return text(parameter) as Timestamp;
}

export function timeOrNull(parameter: Text): Timestamp | null {
  return (parameter ?? null) as Timestamp | null;
}

/** Bytes in hex. */
export function bytes(parameter: Text): string {
  return text(parameter).replace(/^\\x/, "");
}

export function numberOrNull(parameter: Text): number | null {
  return parameter === null || parameter === undefined ? null : Number(parameter);
}

/** The members of a one-dimensional array literal. */
export function members(parameter: Text): (string | null)[] {
  const literal = text(parameter);
  const found: (string | null)[] = [];
  let at = 1;
  while (at < literal.length - 1) {
    if (literal[at] === '"') {
      const { value, end } = quotedMember(literal, at + 1);
      found.push(value);
      at = end + 1;
    } else {
      let end = literal.indexOf(",", at);
      if (end < 0) end = literal.length - 1;
      const bare = literal.slice(at, end);
      found.push(bare === "NULL" ? null : bare);
      at = end + 1;
    }
  }
  return found;
}

/** The text up to the closing quote, and the place behind it. */
function quotedMember(literal: string, start: number): { value: string; end: number } {
  const plainEnd = literal.indexOf('"', start);
  const plain = literal.slice(start, plainEnd);
  if (!plain.includes("\\")) return { value: plain, end: plainEnd + 1 };
  let value = "";
  let at = start;
  for (; literal[at] !== '"'; at += 1) {
    if (literal[at] === "\\") at += 1;
    value += literal[at] ?? "";
  }
  return { value, end: at + 1 };
}

/** The members of an array that has no nulls. */
export function texts(parameter: Text): string[] {
  return members(parameter).map(text);
}

/** What `unnest` makes of several arrays: rows, of which each has a member of each array. */
export function unnest(...parameters: readonly Text[]): (string | null)[][] {
  const columns = parameters.map(members);
  return (columns[0] ?? []).map((_, index) => columns.map((column) => column[index] ?? null));
}
