// Ways to change the structure of a note or a proof, and arbitrary rows of them.
import fc from "fast-check";

/** Changes lines at places that are taken modulo how many there are. */
type Mutator = (lines: readonly string[], at: number, other: number) => readonly string[];

/** Changes one line. */
function ofLine(change: (line: string, other: number) => string): Mutator {
  return (lines, at, other) =>
    lines.map((line, index) => (index === at ? change(line, other) : line));
}

/** Changes one of the lines that look so. */
function ofLines(pattern: RegExp, change: (line: string, other: number) => string): Mutator {
  return (lines, at, other) => {
    const places = [...lines.keys()].filter((index) => pattern.test(lines[index] ?? ""));
    const place = places[at % places.length];
    return lines.map((line, index) => (index === place ? change(line, other) : line));
  };
}

const numbered = /^(index )?[0-9]+$/;
const encoded = /[A-Za-z0-9+/]{40,}=*$/;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** A number in a line, changed. */
function ofNumber(change: (number: string) => string): Mutator {
  return ofLines(numbered, (line) => line.replace(/[0-9]+/, change));
}

/** A character of the lines that are next to each other in the alphabet of base64, so that spare bits change. */
function withSpareBits(line: string, other: number): string {
  return line.replace(/(.)(=+)$/, (_, last: string, padding: string) => {
    const spare = padding.length === 1 ? 4 : 16;
    const value = alphabet.indexOf(last);
    return `${alphabet[value - (value % spare) + ((value + 1 + (other % (spare - 1))) % spare)] ?? ""}${padding}`;
  });
}

/** By name: what is done to a file. */
const mutators: Readonly<Record<string, Mutator>> = {
  "two lines swapped": (lines, at, other) =>
    lines.with(at, lines[other] ?? "").with(other, lines[at] ?? ""),
  "a line moved": (lines, at, other) => lines.toSpliced(at, 1).toSpliced(other, 0, lines[at] ?? ""),
  "a line doubled": (lines, at) => lines.toSpliced(at, 0, lines[at] ?? ""),
  "a line copied": (lines, at, other) => lines.toSpliced(other, 0, lines[at] ?? ""),
  "a line removed": (lines, at) => lines.toSpliced(at, 1),
  "a line instead of another": (lines, at, other) => lines.with(at, lines[other] ?? ""),
  "two lines joined": (lines, at) =>
    lines.toSpliced(at, 2, `${lines[at] ?? ""}${lines[at + 1] ?? ""}`),
  "a line in two": (lines, at, other) => {
    const line = lines[at] ?? "";
    const place = other % (line.length + 1);
    return lines.toSpliced(at, 1, line.slice(0, place), line.slice(place));
  },
  "an empty line more": (lines, at) => lines.toSpliced(at, 0, ""),
  "the lines in the other order": (lines) => lines.toReversed(),
  "a line cut off": ofLine((line, other) => line.slice(0, other % (line.length + 1))),
  "CR LF": (lines) => lines.map((line) => `${line}\r`),
  "a CR": ofLine((line) => `${line}\r`),
  "a NUL": ofLine((line) => `${line}\0`),
  "a space behind a line": ofLine((line) => `${line} `),
  "a space before a line": ofLine((line) => ` ${line}`),
  "a tab for a space": ofLine((line) => line.replace(" ", "\t")),
  "a no-break space": ofLine((line) => line.replace(" ", "\u00a0")),
  "two spaces": ofLine((line) => line.replace(" ", "  ")),
  "a zero-width space": ofLine((line) => `${line}\u200b`),
  "a byte order mark": ofLine((line) => `\ufeff${line}`),
  "a file behind a byte order mark": (lines) => lines.with(0, `\ufeff${lines[0] ?? ""}`),
  "decomposed characters": (lines) => lines.map((line) => line.normalize("NFD")),
  "letters in the other case": ofLine((line) =>
    line === line.toLowerCase() ? line.toUpperCase() : line.toLowerCase(),
  ),
  "another dash": ofLines(/^—/, (line, other) => line.replace("—", "-–―−"[other % 4] ?? "")),
  "a dash more": ofLine((line) => `— ${line}`),
  "bytes at the end": (lines, _, other) => [
    ...lines.slice(0, -1),
    " \0x\n\r\u2028"[other % 6] ?? "",
  ],
  "a number more": ofNumber((number) => String(Number(number) + 1)),
  "a number less": ofNumber((number) => String(Number(number) - 1)),
  "a number with a zero before it": ofNumber((number) => `0${number}`),
  "a number with a zero behind it": ofNumber((number) => `${number}0`),
  "a number with a sign": ofNumber((number) => `+${number}`),
  "a number with a point": ofNumber((number) => `${number}.`),
  "a number of 2^53 more": ofNumber((number) => String(2n ** 53n + BigInt(number))),
  "a number of 2^64 more": ofNumber((number) => String(2n ** 64n + BigInt(number))),
  "base64 without padding": ofLines(encoded, (line) => line.replace(/=+$/, "")),
  "base64 with more padding": ofLines(encoded, (line) => `${line}=`),
  "base64 for URLs": ofLines(encoded, (line) => line.replaceAll("+", "-").replaceAll("/", "_")),
  "base64 with other spare bits": ofLines(encoded, withSpareBits),
  "base64 with a group more": ofLines(encoded, (line) => line.replace(/=*$/, "$&AAAA")),
  "base64 with a group less": ofLines(encoded, (line) => line.replace(/[^ =]{4}(=*)$/, "$1")),
};

/** A change, and the file that it makes of another. */
export interface Mutation {
  readonly how: string;
  readonly file: string;
}

/** One to three changes of a file. Some of them leave it as it is. */
export function mutationOf(file: string): fc.Arbitrary<Mutation> {
  const step = fc.tuple(fc.constantFrom(...Object.keys(mutators)), fc.nat(), fc.nat());
  return fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => ({
    how: steps.map(([name, at, other]) => `${name} (${at}, ${other})`).join(", "),
    file: steps
      .reduce<readonly string[]>((lines, [name, at, other]) => {
        const count = lines.length;
        return count === 0 ? lines : (mutators[name]?.(lines, at % count, other % count) ?? lines);
      }, file.split("\n"))
      .join("\n"),
  }));
}
