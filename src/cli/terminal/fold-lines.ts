// Long lines on a terminal, such as those with hashes: broken between words, and continued below their text.
import { displayWidth } from "./fit-columns.ts";

/**
 * Lines that begin with a label of so many columns, `compared     the root`, or are as they are: none wider than a terminal,
 * as far as words allow. No word is broken, so that a hash can be copied. Null: as wide as they are.
 */
export function foldLines(text: string, labelWidth: number, width: number | null): string {
  if (width === null) return text;
  return text
    .split("\n")
    .map((line) => foldLine(line, labelWidth, width))
    .join("\n");
}

function foldLine(line: string, labelWidth: number, width: number): string {
  if (displayWidth(line) <= width) return line;
  const [first = "", ...words] = line.slice(labelWidth).split(" ");
  const folded = [line.slice(0, labelWidth) + first];
  for (const word of words) {
    const longer = `${folded.at(-1)} ${word}`;
    if (displayWidth(longer) <= width) folded.splice(-1, 1, longer);
    else folded.push(" ".repeat(labelWidth) + word);
  }
  return folded.join("\n");
}
