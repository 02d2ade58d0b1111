// Help on a terminal: paragraphs that are wider than it are broken anew, between words.
import { foldLines } from "./fold-lines.ts";

/** Lines that begin with a blank, such as examples and options, stay as they are. Null: all of it does. */
export function foldHelp(text: string, width: number | null): string {
  if (width === null) return text;
  const paragraph = /^\S.*(?:\n\S.*)*/gm;
  return text.replace(paragraph, (lines) =>
    lines.split("\n").some((line) => line.length > width)
      ? foldLines(lines.replace(/\s+/g, " "), 0, width)
      : lines,
  );
}
