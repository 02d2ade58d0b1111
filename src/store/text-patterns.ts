// A text as a regular expression of PostgreSQL's that finds it without regard to case.

/**
 * A pattern (of advanced regular expressions) for values that contain a text. A letter stands for its lower and upper case,
 * where each is one code point: so ß is not SS.
 */
export function textPattern(text: string): string {
  return Array.from(text, (character) => {
    const variants = new Set(
      [character, character.toLowerCase(), character.toUpperCase()].filter(isOneCodePoint),
    );
    if (variants.size > 1) return `[${[...variants].join("")}]`;
    // A backslash takes the meaning from what is no letter or digit; before those it would give one.
    return /[\p{L}\p{N}]/u.test(character) ? character : `\\${character}`;
  }).join("");
}

function isOneCodePoint(text: string): boolean {
  return Array.from(text).length === 1;
}
