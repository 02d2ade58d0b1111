// Whether the next batch of a lane is pipelined, or waits for the clients that the batch before answers
// (docs/decisions/0026).

/** One batch in so many looks whether others have the ledger. */
const batchesToLook = 16;
/**
 * A look that sees them counts 2, one that does not -1, within these bounds: another server is seen by most looks, this
 * server's postings by one once in a while.
 */
const seenMin = 3;
const seenMax = 8;
/** So many batches are pipelined from one trial of waiting to the next. */
const batchesToTrial = 32;
/** Waiting pays while writes come more than so many times as fast as they do while a batch is recorded. */
const rateRatioMin = 2;
/** How much earlier waits count beside the latest. */
const weightOfBefore = 0.75;
/** From so many bytes in a lane on, reading bodies takes longer than the wait saves. */
const bytesMax = 64 * 1024;

/** Writes that came into a lane, and in which time. */
export interface Arrivals {
  readonly writes: number;
  readonly ms: number;
}

const none: Arrivals = { writes: 0, ms: 0 };

/**
 * Learns of one lane whether others write to its ledger, and whether its clients form a closed loop: then most writes come just
 * after answers, and few while a batch is recorded. Open-loop clients write as much at any time; a wait would only delay them.
 */
export class Gathering {
  #batchesLeftToLook = 0;
  #seen = 0;
  #batchesLeftToTrial = batchesToTrial;
  #wasPipelined = true;
  #whileRecording = none;
  #whileWaiting = none;

  /** Whether the next batch looks for others. To be called once for each batch that can. */
  nextBatchLooks(): boolean {
    if (this.#batchesLeftToLook > 0) {
      this.#batchesLeftToLook -= 1;
      return false;
    }
    this.#batchesLeftToLook = batchesToLook - 1;
    return true;
  }

  /** Takes in what a batch saw that looked: whether others had the ledger. */
  looked(isLockedByOthers: boolean): void {
    this.#seen = Math.min(seenMax, Math.max(0, this.#seen + (isLockedByOthers ? 2 : -1)));
  }

  /**
   * Whether the next batch waits, where it may: to be called once for each batch. `bytes` are those of what waits and is under
   * way in the lane.
   */
  nextBatchWaits(mayWait: boolean, bytes: number): boolean {
    const waits = mayWait && bytes < bytesMax && this.#isTimeToWait();
    if (!waits) this.#wasPipelined = true;
    return waits;
  }

  #isTimeToWait(): boolean {
    if (this.#seen < seenMin) return false;
    if (this.#batchesLeftToTrial === 0) return true;
    this.#batchesLeftToTrial -= 1;
    return false;
  }

  /** Takes in what came while a batch was recorded, and then during the wait. */
  waited(whileRecording: Arrivals, whileWaiting: Arrivals): void {
    // Not of a batch that was pipelined: clients that were answered before it wrote again while it was recorded.
    if (this.#wasPipelined) {
      this.#wasPipelined = false;
      return;
    }
    this.#whileRecording = withBefore(this.#whileRecording, whileRecording);
    this.#whileWaiting = withBefore(this.#whileWaiting, whileWaiting);
    if (this.#pays()) return;
    this.#batchesLeftToTrial = batchesToTrial;
    this.#whileRecording = none;
    this.#whileWaiting = none;
  }

  #pays(): boolean {
    const recording = this.#whileRecording;
    const waiting = this.#whileWaiting;
    return waiting.writes * recording.ms > rateRatioMin * recording.writes * waiting.ms;
  }
}

function withBefore(before: Arrivals, latest: Arrivals): Arrivals {
  return {
    writes: before.writes * weightOfBefore + latest.writes,
    ms: before.ms * weightOfBefore + latest.ms,
  };
}
