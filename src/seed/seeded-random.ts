// Numbers and ids that a seed decides. Integers and IEEE arithmetic only: what Math.exp and its like give may
// differ between versions of the runtime, and nothing that a seed makes may.
import { createHash } from "node:crypto";
import { v7 } from "uuid";

const twoTo32 = 2 ** 32;

/** sfc32 (Chris Doty-Humphrey's small fast counter generator), begun with the SHA-256 of the seed's text. */
export class SeededRandom {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  constructor(seed: string) {
    const digest = createHash("sha256").update(seed, "utf8").digest();
    this.#a = digest.readInt32BE(0);
    this.#b = digest.readInt32BE(4);
    this.#c = digest.readInt32BE(8);
    this.#counter = digest.readInt32BE(12);
  }

  /** A whole number from 0 up to, not including, `bound`, which is at most 2^32. */
  below(bound: number): number {
    return Math.floor((this.#next32() * bound) / twoTo32);
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** Whether something happens that happens `percent` times in a hundred. */
  happens(percent: number): boolean {
    return this.below(100) < percent;
  }

  /** One of several; there has to be one. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("there is something to pick from");
    return item;
  }

  /** A UUIDv7 of a moment, in milliseconds since 1970. */
  id(epochMs: number): string {
    const random = new Uint8Array(16);
    const view = new DataView(random.buffer);
    for (let offset = 0; offset < 16; offset += 4) view.setUint32(offset, this.#next32());
    return v7({ msecs: epochMs, random });
  }

  #next32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}
