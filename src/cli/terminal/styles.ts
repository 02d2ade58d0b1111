// Bold and colours for text on a terminal. Only red and green: both are read on light and on dark backgrounds.
import { printableLines } from "./printable.ts";

/** `heading`: titles. `good`, `bad`: verdicts. `credit`: amounts below zero, told apart from debits. */
export type Style = "heading" | "good" | "bad" | "credit";

/** What begins each style and what ends it, as terminals have it (ECMA-48, SGR). */
const codes: Readonly<Record<Style, readonly [begin: string, end: string]>> = {
  heading: ["1", "22"],
  good: ["32", "39"],
  bad: ["31", "39"],
  credit: ["31", "39"],
};

/** Is in every mark of this process: whoever wrote a text that is shown did not know it. */
const nonce = String(100_000_000 + Math.floor(Math.random() * 900_000_000));
const mark = new RegExp(`\u001b\\[${nonce};([0-9]+)m`);

/** A text in marks that `shownText` knows; what measures text for terminals takes them for nothing. */
export function styled(text: string, style: Style): string {
  const [begin, end] = codes[style];
  return `\u001b[${nonce};${begin}m${text}\u001b[${nonce};${end}m`;
}

/**
 * A text of several lines as a terminal gets it: our marks as colours, or taken away where there are none, and control
 * characters of others as escapes.
 */
export function shownText(text: string, isColored: boolean): string {
  return text
    .split(mark)
    .map((part, index) => {
      if (index % 2 === 0) return printableLines(part);
      return isColored ? `\u001b[${part}m` : "";
    })
    .join("");
}
