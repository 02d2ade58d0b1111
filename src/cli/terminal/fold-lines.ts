// Long lines on a terminal, such as those with hashes: broken between words, and continued below their text.
import { displayWidth } from "./fit-columns.ts";
import { shownText } from "./styles.ts";
import { terminalWidth } from "./terminal-width.ts";

/**
 * Lines that begin with a label of so many columns, `compared     the root`, or are as they are: none wider than a terminal,
 * as far as words allow. No word is broken, and no command in backticks, so that both can be copied. Null: as wide as they are.
 */
export function foldLines(text: string, labelWidth: number, width: number | null): string {
  if (width === null) return text;
  return text
    .split("\n")
    .map((line) => foldLine(line, labelWidth, width))
    .join("\n");
}

/** A remark for stderr: on a terminal no wider than it, and continued further in than its first line. */
export function foldRemark(text: string): string {
  return foldLines(text, 2, terminalWidth(process.stderr));
}

/** Words and commands in backticks, with the blanks behind them. */
const words = /(?:`[^`]*`|[^ ])+ */g;

function foldLine(line: string, labelWidth: number, width: number): string {
  if (shownWidth(line) <= width) return line;
  const [first = "", ...others] = line.slice(labelWidth).match(words) ?? [];
  const folded = [line.slice(0, labelWidth) + first];
  for (const word of others) {
    const longer = `${folded.at(-1)}${word}`;
    if (shownWidth(longer.trimEnd()) <= width) folded.splice(-1, 1, longer);
    else folded.push(" ".repeat(labelWidth) + word);
  }
  return folded.map((part) => part.trimEnd()).join("\n");
}

/** Of a text that may be styled. */
function shownWidth(text: string): number {
  return displayWidth(shownText(text, false));
}
