// Whether the next batch of a lane follows at once, or those whom the one before answers are waited for
// (docs/decisions/0026).

/** A batch in so many looks whether others write to the lane; so often in a row without seeing them, and they are gone. */
const batchesBetweenLooks = 16;
const unseenLooksMax = 4;
/** So many batches follow at once until it is tried again whether waiting pays. */
const batchesBetweenTrials = 16;
/** Waiting pays where writes come at more than so many times the rate at which they came before. */
const rateRatioMin = 2;
/** How much the waits before count beside the latest. */
const weightOfBefore = 0.75;

/** Writes that came into a lane, and in which time. */
export interface Arrivals {
  readonly writes: number;
  readonly ms: number;
}

const none: Arrivals = { writes: 0, ms: 0 };

/**
 * Learns whether others write to a lane, and whether those who were answered write again at once. Clients that wait for
 * their answers do: most writes come just after a batch, and few while one is recorded. Clients of their own mind come as
 * much at any time, and would only wait.
 */
export class Gathering {
  #batchesToLook = 0;
  #unseenLooks = unseenLooksMax;
  #batchesToTrial = batchesBetweenTrials;
  #whileRecording = none;
  #whileWaiting = none;

  /** Whether a batch is to look for others. Asked once for each batch that can. */
  isLookDue(): boolean {
    this.#batchesToLook -= 1;
    if (this.#batchesToLook > 0) return false;
    this.#batchesToLook = batchesBetweenLooks;
    return true;
  }

  /** Takes in what a batch saw that looked for others. */
  looked(areOthersThere: boolean): void {
    this.#unseenLooks = areOthersThere ? 0 : this.#unseenLooks + 1;
  }

  /** Whether those whom a batch answers are to be waited for. Asked once for each batch where that may be of use. */
  isWaitDue(): boolean {
    if (this.#unseenLooks >= unseenLooksMax) return false;
    if (this.#batchesToTrial === 0) return true;
    this.#batchesToTrial -= 1;
    return false;
  }

  /** Takes in what came while a batch was recorded, and then while those whom it answered were waited for. */
  waited(whileRecording: Arrivals, whileWaiting: Arrivals): void {
    const recording = withBefore(this.#whileRecording, whileRecording);
    const waiting = withBefore(this.#whileWaiting, whileWaiting);
    const pays = waiting.writes * recording.ms > rateRatioMin * recording.writes * waiting.ms;
    this.#batchesToTrial = pays ? 0 : batchesBetweenTrials;
    this.#whileRecording = pays ? recording : none;
    this.#whileWaiting = pays ? waiting : none;
  }
}

function withBefore(before: Arrivals, latest: Arrivals): Arrivals {
  return {
    writes: before.writes * weightOfBefore + latest.writes,
    ms: before.ms * weightOfBefore + latest.ms,
  };
}
