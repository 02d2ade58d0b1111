// What became of each write of a run, and whether that is what the ledger says: a byte a write.
import type { RawReply } from "./raw-connection.ts";
import type { Findings } from "./findings.ts";

/** `unknown`: it may have been done; the answer was lost, or says so. */
export type Outcome = "unsent" | "acknowledged" | "refused" | "unknown";
const outcomes: readonly Outcome[] = ["unsent", "acknowledged", "refused", "unknown"];

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

export class OutcomeLog {
  readonly #bytes = new NumberedBytes();
  readonly #writesPerRequest: number;
  /** Writes. */
  acknowledged = 0;

  /** Of request n the writes are those that end with n times `writesPerRequest`. */
  constructor(writesPerRequest = 1) {
    this.#writesPerRequest = writesPerRequest;
  }

  /** The greatest number of a write that was sent. */
  get last(): number {
    return this.#bytes.last;
  }

  /** Records what became of all writes of a request. */
  record(requestNumber: number, outcome: Outcome): void {
    const last = requestNumber * this.#writesPerRequest;
    for (let number = last - this.#writesPerRequest + 1; number <= last; number += 1) {
      this.#bytes.set(number, outcomes.indexOf(outcome));
    }
    if (outcome === "acknowledged") this.acknowledged += this.#writesPerRequest;
  }

  /** Adds what differs between what was answered and what was seen. */
  compare(sightings: Sightings, what: string, findings: Findings): void {
    const last = Math.max(this.#bytes.last, sightings.last);
    for (let number = 1; number <= last; number += 1) {
      const fault = faultOf(outcomes[this.#bytes.get(number)], sightings.timesSeen(number));
      if (fault !== null) findings.add(`${what} ${number} ${fault}`);
    }
  }
}

function faultOf(outcome: Outcome | undefined, timesSeen: number): string | null {
  if (timesSeen > 1) return `is there ${timesSeen} times`;
  if (outcome === "acknowledged" && timesSeen === 0) return "was acknowledged and is lost";
  if (outcome === "refused" && timesSeen === 1) return "was refused and is there";
  if (outcome === "unsent" && timesSeen === 1) return "was never sent and is there";
  return null;
}

/** How often each write was found. */
export class Sightings {
  readonly #bytes = new NumberedBytes();

  get last(): number {
    return this.#bytes.last;
  }

  see(number: number): void {
    this.#bytes.set(number, Math.min(255, this.#bytes.get(number) + 1));
  }

  timesSeen(number: number): number {
    return this.#bytes.get(number);
  }
}

/** A byte for each of the numbers 1, 2, 3 …, 0 until it is set. */
class NumberedBytes {
  #bytes = new Uint8Array(65_536);
  last = 0;

  get(number: number): number {
    return this.#bytes[number] ?? 0;
  }

  set(number: number, value: number): void {
    if (number >= this.#bytes.length) {
      const grown = new Uint8Array(Math.max(number + 1, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes[number] = value;
    this.last = Math.max(this.last, number);
  }
}
