// Help on a terminal: paragraphs that are wider than it are broken anew, between words.

/** Lines that begin with a blank, such as examples and options, stay as they are. Null: all of it does. */
export function foldHelp(text: string, width: number | null): string {
  if (width === null) return text;
  const paragraph = /^\S.*(?:\n\S.*)*/gm;
  return text.replace(paragraph, (lines) =>
    lines.split("\n").some((line) => line.length > width) ? wrapped(lines, width) : lines,
  );
}

function wrapped(paragraph: string, width: number): string {
  const [first = "", ...words] = paragraph.split(/\s+/);
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= width) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines.join("\n");
}
