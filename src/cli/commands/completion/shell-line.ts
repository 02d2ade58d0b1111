// A command line of bash as its user typed it: what its words are, and how a word is written into it.

export interface ShellWords {
  /** Quotes and backslashes taken out; the last one is being typed, and may be empty. */
  readonly words: readonly string[];
  /** The quote that the last word has open, if any. */
  readonly openQuote: string;
}

/** The words of a line up to the cursor, from the last command in it. */
export function splitShellLine(line: string): ShellWords {
  let words: string[] = [];
  let word = "";
  let isInWord = false;
  let quote = "";
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (quote !== "") {
      if (character === quote) quote = "";
      else if (quote === '"' && character === "\\" && at + 1 < line.length)
        word += line.charAt((at += 1));
      else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      isInWord = true;
    } else if (character === "\\") {
      if (at + 1 < line.length) word += line.charAt((at += 1));
      isInWord = true;
    } else if (/[\s;|&(]/.test(character)) {
      if (isInWord) words.push(word);
      if (!/\s/.test(character)) words = [];
      [word, isInWord] = ["", false];
    } else {
      word += character;
      isInWord = true;
    }
  }
  return { words: [...words, word], openQuote: quote };
}

/**
 * A candidate as bash wants it for the word that is being typed: without what stands before the last word break in
 * it, since bash takes that for a word of its own, and quoted where that is needed.
 */
export function forBash(
  candidate: string,
  typed: string,
  { openQuote, wordBreaks }: { openQuote: string; wordBreaks: string },
): string {
  // A name is its giver's choice: in quotes, too, nothing of it may be left to the shell.
  if (openQuote === "'") return candidate.replaceAll("'", "'\\''");
  if (openQuote === '"') return candidate.replace(/["$`\\]/g, "\\$&").replaceAll("!", `"'!'"`);
  const breaks = [":", "="].filter((character) => wordBreaks.includes(character));
  const kept = Math.max(-1, ...breaks.map((character) => typed.lastIndexOf(character))) + 1;
  return candidate.slice(kept).replace(/[^\w./:=@%+,-]/gu, "\\$&");
}
