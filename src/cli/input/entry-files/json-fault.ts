// Says where a JSON text is broken: JSON.parse tells neither line nor member. Only run once it failed.

export interface JsonFault {
  /** Of the character at which reading stopped. */
  readonly offset: number;
  /** The member that was being read. */
  readonly path: readonly (string | number)[];
  readonly reason: string;
}

type Container = { readonly close: "}"; key: string | null } | { readonly close: "]"; key: number };
type Expected = "value" | "value or ]" | "name" | "name or }" | ":" | "more";

const space = /[ \t\n\r]*/y;
const scalar = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The first fault of a text after RFC 8259, or null where it has none. Iterative: any depth will do. */
export function findJsonFault(text: string): JsonFault | null {
  const containers: Container[] = [];
  let expected: Expected = "value";
  let offset = 0;
  const fault = (at: number, reason: string): JsonFault => ({
    offset: at,
    path: containers.flatMap(({ key }) => (key === null ? [] : [key])),
    reason,
  });
  const unexpected = () => fault(offset, unexpectedAt(text, offset, expected));
  for (;;) {
    offset = endOf(space, text, offset) ?? offset;
    const inner = containers.at(-1);
    const character = text.charAt(offset);
    if (expected === "more") {
      if (inner === undefined) return offset === text.length ? null : unexpected();
      if (character === inner.close) containers.pop();
      else if (character !== ",") return unexpected();
      else if (inner.close === "}") expected = "name";
      else {
        inner.key += 1;
        expected = "value";
      }
      offset += 1;
    } else if (expected === ":") {
      if (character !== ":") return unexpected();
      expected = "value";
      offset += 1;
    } else if (character === inner?.close && expected.endsWith(character)) {
      containers.pop();
      expected = "more";
      offset += 1;
    } else if (character === '"') {
      const end = endOfString(text, offset);
      if (typeof end !== "number") return fault(end.offset, end.reason);
      if (inner?.close === "}" && expected.startsWith("name")) {
        inner.key = JSON.parse(text.slice(offset, end)) as string;
        expected = ":";
      } else expected = "more";
      offset = end;
    } else if (expected.startsWith("name")) {
      return unexpected();
    } else if (character === "{") {
      containers.push({ close: "}", key: null });
      expected = "name or }";
      offset += 1;
    } else if (character === "[") {
      containers.push({ close: "]", key: 0 });
      expected = "value or ]";
      offset += 1;
    } else {
      const end = endOf(scalar, text, offset);
      if (end === null) return unexpected();
      expected = "more";
      offset = end;
    }
  }
}

/** Where a character of a text stands, from 1. */
export function positionOf(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}

/** `lines[1].functionalAmount`; empty for the whole. */
export function memberName(path: readonly (string | number)[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "");
}

function endOf(pattern: RegExp, text: string, offset: number): number | null {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : null;
}

function endOfString(text: string, start: number): number | { offset: number; reason: string } {
  for (let offset = start + 1; offset < text.length; offset += 1) {
    const unit = text.charCodeAt(offset);
    if (unit === 0x22) return offset + 1;
    if (unit < 0x20) {
      const code = unit.toString(16).toUpperCase().padStart(4, "0");
      return { offset, reason: `a text holds the control character U+${code} unescaped` };
    }
    if (unit === 0x5c) {
      const end = endOf(escape, text, offset);
      if (end === null) return { offset, reason: "a text holds an unknown escape" };
      offset = end - 1;
    }
  }
  return { offset: start, reason: "a text is never closed" };
}

function unexpectedAt(text: string, offset: number, expected: Expected): string {
  const wanted = expected === "more" ? "a comma or the end" : expected;
  const code = text.codePointAt(offset);
  if (code === undefined) return "the text ends too early";
  return `expected ${wanted}, found ${JSON.stringify(String.fromCodePoint(code))}`;
}
