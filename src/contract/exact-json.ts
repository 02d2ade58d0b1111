// JSON whose numbers lose nothing: reading says which number tokens a double can't hold, writing
// takes bigints. Parsing itself is JSON.parse (the last of duplicate keys wins).

/** A number token of a document. */
export interface NumberToken {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

export interface ExactJson {
  readonly value: unknown;
  /** Those whose decimal value is not that of the shortest form of the double that they were read as. */
  readonly inexactNumbers: readonly NumberToken[];
}

// Up to 15 significant digits without an exponent a double holds every decimal; most documents have
// nothing longer, and need no second look. Digits inside of strings may cause one in vain.
const mayBeInexact = /[0-9.]{16}|[0-9][eE]/;

/** Parses JSON text (RFC 8259). Throws SyntaxError. */
export function parseExactJson(text: string): ExactJson {
  return new ReadJson(text);
}

/** Most bodies have no number that anybody reads, and need no second look. */
class ReadJson implements ExactJson {
  readonly value: unknown;
  readonly #text: string;

  constructor(text: string) {
    this.value = JSON.parse(text);
    this.#text = text;
  }

  get inexactNumbers(): readonly NumberToken[] {
    if (!mayBeInexact.test(this.#text)) return [];
    return findNumbers(this.#text, this.value, (part) => !isExact(part));
  }
}

/**
 * The whole number that a document has as a member of its outermost object, with all its digits; null where it has none. Of
 * large ones a double has other digits, even where its shortest form has the same: 1e23 is 99999999999999991611392.
 */
export function wholeNumberAt(text: string, name: string): bigint | null {
  const found = findNumbers(
    text,
    JSON.parse(text),
    (part, path) => path.length === 1 && path[0] === name && /^-?[0-9]+$/.test(part),
  ).at(-1);
  return found === undefined ? null : BigInt(found.text);
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, part) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, part)
        ? (at as Record<string | number, unknown>)[part]
        : undefined,
    value,
  );
}

/** A number, a mark of structure, or the quote that a string begins with. */
const token = /-?[0-9][0-9.eE+-]*|[[\]{},:"]/g;

// Nothing that is kept nests deeper, and more need not be reported: each number found costs its path.
const depthMax = 80;
/** So many are reported at most. */
export const numbersMax = 100;

/** Walks the tokens of valid JSON with the path at hand. Iterative: nesting may be as deep as the text is long. */
function findNumbers(
  text: string,
  value: unknown,
  isWanted: (part: string, path: NumberToken["path"]) => boolean,
): NumberToken[] {
  const found: NumberToken[] = [];
  const path: (string | number)[] = [];
  let key = "";
  token.lastIndex = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [part] = match;
    const last = path.length - 1;
    if (part === "[") path.push(0);
    else if (part === "{") path.push("");
    else if (part === "]" || part === "}") path.pop();
    else if (part === ",") {
      const index = path[last];
      if (typeof index === "number") path[last] = index + 1;
    } else if (part === ":") path[last] = JSON.parse(key) as string;
    else if (part === '"') {
      const end = endOfString(text, match.index);
      // Only an object's members are named by the string before the colon.
      if (typeof path[last] === "string") key = text.slice(match.index, end);
      token.lastIndex = end;
    } else if (path.length <= depthMax && found.length < numbersMax && isWanted(part, path)) {
      // Of duplicate keys the last wins: a number that an earlier one had was not kept.
      const isKept = Object.is(valueAt(value, path), Number(part));
      if (isKept) found.push({ path: [...path], text: part });
    }
  }
  return found;
}

/** The index after a string's closing quote: the first that no odd number of backslashes escapes. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslash = quote - 1;
    while (text[backslash] === "\\") backslash -= 1;
    if ((quote - backslash) % 2 === 1) return quote + 1;
  }
}

/** Whether a JSON number's decimal value is the shortest form of the double that it is read as. */
function isExact(numberText: string): boolean {
  const value = Number(numberText);
  return Number.isFinite(value) && normalForm(numberText) === normalForm(String(value));
}

/** Significant digits and power of ten, without leading and trailing zeros: equal for equal values. */
function normalForm(numberText: string): string {
  const match = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(numberText);
  if (match === null) return numberText;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  let end = digits.length;
  // A regular expression would begin anew at each zero: seconds for a number as long as a body may be.
  while (digits[end - 1] === "0") end -= 1;
  if (end === 0) return "0";
  // Not exact for exponents that no double has, which makes none of them equal to one that it has.
  const power = Number(exponent) - fraction.length + (digits.length - end);
  return `${sign}${digits.slice(0, end)}e${power}`;
}

export type ExactJsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ExactJsonValue[]
  | { readonly [key: string]: ExactJsonValue | undefined };

/** JSON text in which a bigint is a number with all its digits. Members that are undefined are left out. */
export function stringifyExactJson(value: ExactJsonValue): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(stringifyExactJson).join(",")}]`;
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : [`${JSON.stringify(name)}:${stringifyExactJson(member)}`],
  );
  return `{${members.join(",")}}`;
}

function isArray(value: ExactJsonValue): value is readonly ExactJsonValue[] {
  return Array.isArray(value);
}
