// What became of each write of a run, and whether that is what the ledger says.
import type { RawReply } from "./raw-connection.ts";

/** `unknown`: it may have been done; the answer is missing, or says so. */
type Outcome = "acknowledged" | "refused" | "unknown";
const outcomes: readonly Outcome[] = ["acknowledged", "refused", "unknown"];

/** What an answer says about a request that was sent for the first time. */
export function outcomeOf({ status, body }: RawReply): Outcome {
  // A request that nobody sent before can't be a duplicate: it was not done now.
  if (status >= 200 && status < 300) {
    // Some of a bulk's writes were refused.
    if (body.includes('"error"')) return "unknown";
    return body.includes('"duplicate"') ? "refused" : "acknowledged";
  }
  if (status >= 400 && status < 500) return "refused";
  return body.includes('"UNAVAILABLE"') ? "refused" : "unknown";
}

/** A bulk has fewer writes, so that doubling is always enough. */
const capacityMin = 65_536;

/** Bytes with a place for each write's number: a run may have millions. */
export class OutcomeLog {
  #outcomes = new Uint8Array(capacityMin);
  #timesSeen = new Uint8Array(capacityMin);
  readonly #writesPerRequest: number;
  /** The greatest number of a write that was sent. */
  last = 0;
  /** Writes. */
  acknowledged = 0;

  /** Of request n the writes are those that end with n times `writesPerRequest`. */
  constructor(writesPerRequest: number) {
    this.#writesPerRequest = writesPerRequest;
  }

  /** Records what became of all writes of a request: `unknown` when it is sent, in the order of numbers. */
  record(requestNumber: number, outcome: Outcome): void {
    const last = requestNumber * this.#writesPerRequest;
    if (last >= this.#outcomes.length) {
      this.#outcomes = doubled(this.#outcomes);
      this.#timesSeen = doubled(this.#timesSeen);
    }
    this.#outcomes.fill(outcomes.indexOf(outcome), last - this.#writesPerRequest + 1, last + 1);
    this.last = Math.max(this.last, last);
    if (outcome === "acknowledged") this.acknowledged += this.#writesPerRequest;
  }

  /** Notes that a write was found in the ledger; false where it was never sent. */
  see(number: number): boolean {
    if (number > this.last) return false;
    this.#timesSeen[number] = Math.min(255, (this.#timesSeen[number] ?? 0) + 1);
    return true;
  }

  /** What differs between what was answered and what was seen. */
  *differences(what: string): Generator<string> {
    for (let number = 1; number <= this.last; number += 1) {
      const outcome = outcomes[this.#outcomes[number] ?? 0];
      const fault = faultOf(outcome, this.#timesSeen[number] ?? 0);
      if (fault !== null) yield `${what} ${number} ${fault}`;
    }
  }
}

function doubled(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(bytes.length * 2);
  grown.set(bytes);
  return grown;
}

function faultOf(outcome: Outcome | undefined, timesSeen: number): string | null {
  if (timesSeen > 1) return `is there ${timesSeen} times`;
  if (outcome === "acknowledged" && timesSeen === 0) return "was acknowledged and is lost";
  if (outcome === "refused" && timesSeen === 1) return "was refused and is there";
  return null;
}
