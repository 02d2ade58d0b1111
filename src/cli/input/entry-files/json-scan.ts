// Finds where a JSON value ends, byte by byte and across chunks, without parsing it. UTF-8 keeps the
// structural characters of JSON apart from all others.

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
export const openBracket = 0x5b;
const closeBracket = 0x5d;
export const openBrace = 0x7b;
const closeBrace = 0x7d;

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** One value, from its first byte on. */
export class ValueScanner {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;

  /**
   * Scans on from an index and returns the index after the value, or -1 when it goes on in the next
   * chunk. Broken JSON ends somewhere too; whoever parses it will see.
   */
  scan(bytes: Buffer, from: number): number {
    for (let index = from; index < bytes.length; index += 1) {
      const byte = bytes[index];
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) {
          this.#isInText = false;
          if (this.#depth === 0) return index + 1;
        }
      } else if (byte === quote) {
        this.#isInText = true;
      } else if (byte === openBrace || byte === openBracket) {
        this.#depth += 1;
      } else if (byte === closeBrace || byte === closeBracket) {
        if (this.#depth === 0) return index;
        this.#depth -= 1;
        if (this.#depth === 0) return index + 1;
      } else if (this.#depth === 0 && (byte === comma || isSpace(byte))) {
        return index;
      }
    }
    return -1;
  }
}
