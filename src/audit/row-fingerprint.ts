// Fingerprints of tables of sums: whether two of them are equal, without holding either.
import { createHmac } from "node:crypto";

const bits = 256;

/**
 * A sum over rows of figures, each weighed by a keyed hash of its name. A row may come in parts, which add up, and rows in
 * any order. Where each name has the same figures in two lists, their fingerprints are equal. Otherwise they are with
 * a chance of less than 2^-100, as long as whoever made the rows does not know the key, and no name has a figure of 2^150
 * or more: a multiple of 2^n hides n bits of its weight, and one of 2^256 all of them.
 */
export class RowFingerprint {
  readonly #key: Uint8Array;
  readonly #sums: bigint[];

  constructor(key: Uint8Array, figureCount: number) {
    this.#key = key;
    this.#sums = Array.from({ length: figureCount }, () => 0n);
  }

  add(name: string, figures: readonly bigint[]): void {
    const weight = BigInt(`0x${createHmac("sha256", this.#key).update(name).digest("hex")}`);
    figures.forEach((figure, index) => {
      const sum = (this.#sums[index] ?? 0n) + weight * figure;
      this.#sums[index] = BigInt.asUintN(bits, sum);
    });
  }

  equals(other: RowFingerprint): boolean {
    return this.#sums.every((sum, index) => sum === other.#sums[index]);
  }
}
