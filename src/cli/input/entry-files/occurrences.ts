// Counts how often each of very many things was seen, in 50 to 80 bytes for each different one.

/**
 * Counts by the first 56 bits of a digest. Two things that have those in common (one chance in 10^5 among a million)
 * are counted as one: that makes a count higher, never two counts equal.
 */
export class Occurrences {
  /** One for each first byte: a map takes 2^24 keys at most. */
  readonly #counts = Array.from({ length: 256 }, () => new Map<number, number>());

  /** Counts one more and returns how many were seen before. The digest has at least 7 random bytes. */
  add(digest: Buffer): number {
    const counts = this.#counts[digest.readUInt8()];
    const rest = digest.readUIntBE(1, 6);
    const before = counts?.get(rest) ?? 0;
    counts?.set(rest, before + 1);
    return before;
  }
}
