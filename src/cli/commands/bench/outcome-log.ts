// What became of each write of a run, and whether that is what the ledger says.
import type { RawReply } from "./raw-connection.ts";

/** `unknown`: it may have been done; the answer is missing, or says so. */
type Outcome = "acknowledged" | "refused" | "unknown";

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

/** Plain arrays with a place for each write's number: a run may have millions. */
export class OutcomeLog {
  readonly #outcomes: Outcome[] = [];
  readonly #timesSeen: number[] = [];
  readonly #writesPerRequest: number;
  /** Writes. */
  acknowledged = 0;

  /** Of request n the writes are those that end with n times `writesPerRequest`. */
  constructor(writesPerRequest: number) {
    this.#writesPerRequest = writesPerRequest;
  }

  /** The greatest number of a write that was sent. */
  get last(): number {
    return Math.max(0, this.#outcomes.length - 1);
  }

  /** Records what became of all writes of a request: `unknown` when it is sent, in the order of numbers. */
  record(requestNumber: number, outcome: Outcome): void {
    const last = requestNumber * this.#writesPerRequest;
    for (let number = last - this.#writesPerRequest + 1; number <= last; number += 1) {
      this.#outcomes[number] = outcome;
      this.#timesSeen[number] = 0;
    }
    if (outcome === "acknowledged") this.acknowledged += this.#writesPerRequest;
  }

  /** Notes that a write was found in the ledger. */
  see(number: number): void {
    this.#timesSeen[number] = (this.#timesSeen[number] ?? 0) + 1;
  }

  /** What differs between what was answered and what was seen. */
  differences(what: string): string[] {
    const found: string[] = [];
    this.#timesSeen.forEach((timesSeen, number) => {
      const fault = faultOf(this.#outcomes[number], timesSeen);
      if (fault !== null) found.push(`${what} ${number} ${fault}`);
    });
    return found;
  }
}

function faultOf(outcome: Outcome | undefined, timesSeen: number): string | null {
  if (timesSeen > 1) return `is there ${timesSeen} times`;
  if (outcome === "acknowledged" && timesSeen === 0) return "was acknowledged and is lost";
  if (outcome === "refused" && timesSeen === 1) return "was refused and is there";
  if (outcome === undefined) return "was never sent and is there";
  return null;
}
