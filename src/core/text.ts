// What text may be: ids, codes, labels, descriptions. Lengths are counted in Unicode code points.

export const labelCodePointsMax = 256;
export const descriptionCodePointsMax = 1024;

/** What is wrong with a text of 1 (or `codePointsMin`) to `codePointsMax` code points, or null when it is fine. */
export function textFault(text: string, codePointsMax: number, codePointsMin = 1): string | null {
  const broken = brokenTextFault(text);
  if (broken !== null) return broken;
  if (text.length < codePointsMin) return "must not be empty";
  // A code point has one or two UTF-16 units, so most texts are measured without counting.
  if (text.length > codePointsMax && codePointCount(text) > codePointsMax) {
    return `must have at most ${codePointsMax} characters`;
  }
  return null;
}

/** JSON can contain NUL and lone surrogates, but they can't be stored or hashed. Null when there are none. */
export function brokenTextFault(text: string): string | null {
  if (text.includes("\0")) return "must not contain a NUL character";
  if (!text.isWellFormed()) return "must not contain a lone surrogate";
  return null;
}

function codePointCount(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // The second half of a pair was counted with its first.
    if (unit < 0xdc00 || unit > 0xdfff) count += 1;
  }
  return count;
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

/** Orders texts by their UTF-8 bytes, which is also the order of their code points. */
export function compareUtf8(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a === b) continue;
    // Surrogates stand below U+E000 to U+FFFF as units, but above them as code points.
    const aIsSurrogate = a >= 0xd800 && a <= 0xdfff;
    const bIsSurrogate = b >= 0xd800 && b <= 0xdfff;
    if (aIsSurrogate !== bIsSurrogate) return aIsSurrogate ? 1 : -1;
    return a - b;
  }
  return left.length - right.length;
}
