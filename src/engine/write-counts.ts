// What became of writes since the process started, by kind. Plain numbers, added to once a write; what they
// are called outside is in http/metrics.ts.
import { Refusal } from "../core/errors.ts";

/**
 * `duplicate`: it was recorded already. `refused`: by a rule. `unavailable`: certainly not
 * written. `unknown`: it could not be learned whether it was. `failed`: a bug.
 */
export const writeOutcomes = [
  "accepted",
  "duplicate",
  "refused",
  "unavailable",
  "unknown",
  "failed",
] as const;

export type WriteOutcome = (typeof writeOutcomes)[number];

/** What group commit reports of each item, and of each batch. */
export interface Tally<Item, Reply> {
  replied(item: Item, reply: Reply): void;
  rejected(item: Item, error: unknown): void;
  /** A batch that was recorded, and how long that took from sending its locks to COMMIT's answer. */
  committed(writes: number, durationMs: number): void;
}

export class WriteCounts<Kind extends string, Item, Reply> implements Tally<Item, Reply> {
  readonly #counts: ReadonlyMap<Kind, Record<WriteOutcome, number>>;
  readonly #kindOf: (item: Item) => Kind;
  readonly #isDuplicate: (reply: Reply) => boolean;
  /** Called for each batch; whoever keeps distributions of them sets it. */
  onBatch: (writes: number, durationMs: number) => void = () => undefined;

  constructor(
    kinds: readonly Kind[],
    kindOf: (item: Item) => Kind,
    isDuplicate: (reply: Reply) => boolean = () => false,
  ) {
    this.#counts = new Map(kinds.map((kind) => [kind, noCounts()]));
    this.#kindOf = kindOf;
    this.#isDuplicate = isDuplicate;
  }

  replied(item: Item, reply: Reply): void {
    this.#count(item, this.#isDuplicate(reply) ? "duplicate" : "accepted");
  }

  rejected(item: Item, error: unknown): void {
    this.#count(item, outcomeOf(error));
  }

  committed(writes: number, durationMs: number): void {
    this.onBatch(writes, durationMs);
  }

  /** Every kind with every outcome, those that never happened too. */
  list(): { kind: Kind; outcome: WriteOutcome; count: number }[] {
    return [...this.#counts].flatMap(([kind, counts]) =>
      writeOutcomes.map((outcome) => ({ kind, outcome, count: counts[outcome] })),
    );
  }

  #count(item: Item, outcome: WriteOutcome): void {
    const counts = this.#counts.get(this.#kindOf(item));
    if (counts !== undefined) counts[outcome] += 1;
  }
}

function noCounts(): Record<WriteOutcome, number> {
  return { accepted: 0, duplicate: 0, refused: 0, unavailable: 0, unknown: 0, failed: 0 };
}

function outcomeOf(error: unknown): WriteOutcome {
  if (!(error instanceof Refusal)) return "failed";
  if (error.problem === "duplicateEntry") return "duplicate";
  if (error.problem === "unavailable") return "unavailable";
  return error.problem === "outcomeUnknown" ? "unknown" : "refused";
}
