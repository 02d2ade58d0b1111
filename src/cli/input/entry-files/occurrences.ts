// Counts how often each of very many things was seen, in 12 to 48 bytes for each different one.

const slotsMin = 1024;

/**
 * An open-addressing table of 64-bit fingerprints. Two things with one fingerprint (one chance in 10^7
 * among a million) are counted as one: that makes a count higher, never two counts equal.
 */
export class Occurrences {
  #high = new Uint32Array(slotsMin);
  #low = new Uint32Array(slotsMin);
  #counts = new Uint32Array(slotsMin);
  #distinct = 0;

  /** Counts one more and returns how many were seen before. The digest has at least 8 random bytes. */
  add(digest: Buffer): number {
    if (this.#distinct * 4 >= this.#counts.length * 3) this.#grow();
    const slot = this.#find(digest.readUInt32BE(0), digest.readUInt32BE(4));
    const before = this.#counts[slot] ?? 0;
    if (before === 0) {
      this.#high[slot] = digest.readUInt32BE(0);
      this.#low[slot] = digest.readUInt32BE(4);
      this.#distinct += 1;
    }
    this.#counts[slot] = before + 1;
    return before;
  }

  /** The fingerprint's slot, or the empty one where it belongs. */
  #find(high: number, low: number): number {
    const mask = this.#counts.length - 1;
    let slot = low & mask;
    while (this.#counts[slot] !== 0 && (this.#high[slot] !== high || this.#low[slot] !== low)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const [highs, lows, counts] = [this.#high, this.#low, this.#counts];
    this.#high = new Uint32Array(counts.length * 2);
    this.#low = new Uint32Array(counts.length * 2);
    this.#counts = new Uint32Array(counts.length * 2);
    for (const [index, count] of counts.entries()) {
      if (count === 0) continue;
      const [high, low] = [highs[index] ?? 0, lows[index] ?? 0];
      const slot = this.#find(high, low);
      this.#high[slot] = high;
      this.#low[slot] = low;
      this.#counts[slot] = count;
    }
  }
}
