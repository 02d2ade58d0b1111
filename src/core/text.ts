// What text may be: ids, codes, labels, descriptions. Lengths are counted in Unicode code points.

export const labelCodePointsMax = 256;
export const descriptionCodePointsMax = 1024;

/** What is wrong with a text of 1 (or `codePointsMin`) to `codePointsMax` code points, or null when it is fine. */
export function textFault(text: string, codePointsMax: number, codePointsMin = 1): string | null {
  const broken = brokenTextFault(text);
  if (broken !== null) return broken;
  if (text.length < codePointsMin) return "must not be empty";
  // A code point has one or two UTF-16 units, so most texts are measured without counting.
  const isTooLong =
    text.length > 2 * codePointsMax ||
    (text.length > codePointsMax && Array.from(text).length > codePointsMax);
  return isTooLong ? `must have at most ${codePointsMax} characters` : null;
}

/** JSON can contain NUL and lone surrogates, but they can't be stored or hashed. Null when there are none. */
export function brokenTextFault(text: string): string | null {
  if (text.includes("\0")) return "must not contain a NUL character";
  if (!text.isWellFormed()) return "must not contain a lone surrogate";
  return null;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A UUID of any version in its usual form, in lower case; null when the text is none. */
export function parseUuid(text: string): string | null {
  return uuidPattern.test(text) ? text.toLowerCase() : null;
}

const quotedCharactersMax = 100;

/** Input as messages show it: in quotes, and cut if it is long. */
export function quoted(text: string): string {
  const isLong = text.length > quotedCharactersMax;
  return JSON.stringify((isLong ? `${text.slice(0, quotedCharactersMax)}…` : text).toWellFormed());
}

/**
 * The least text, by its UTF-8 bytes, that comes after all that begin with a prefix; null where there is none: after the
 * empty prefix, or one of nothing but the last code point.
 */
export function textAfterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    // Surrogates are no characters of their own.
    if (last < 0x10_ff_ff)
      return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return null;
}

/** Orders texts by their UTF-8 bytes, which is also the order of their code points. */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    // At the first half of a surrogate pair, this is the whole code point.
    const difference = (left.codePointAt(index) ?? 0) - (right.codePointAt(index) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
