// Checkpoints on their way to all witnesses of a server: each has a feed of its own, so that none waits for another.
import type { LogIdentity } from "../../core/log-origin.ts";
import { repeat } from "../repeat.ts";
import { WitnessFeed, type FedLogs, type WitnessFeedOptions } from "./witness-feed.ts";
import type { SubmissionWitness } from "./witness-request.ts";

export interface WitnessFeedsOptions extends WitnessFeedOptions {
  /** How often checkpoints are looked for that were not announced here, or not cosigned; 60,000 unless given. */
  readonly lookIntervalMs?: number;
  /** The database was asked, and did not fail. */
  readonly onSuccess?: () => void;
}

const lookIntervalMsDefault = 60_000;

export class WitnessFeeds {
  /** One for each witness. */
  readonly all: readonly WitnessFeed[];
  readonly #options: WitnessFeedsOptions;
  #end: () => Promise<void> = async () => undefined;
  #isStopped = false;

  constructor(
    logs: FedLogs,
    witnesses: readonly SubmissionWitness[],
    options: WitnessFeedsOptions,
  ) {
    this.#options = options;
    this.all = witnesses.map((witness) => new WitnessFeed(logs, witness, options));
  }

  /** Begins to look for checkpoints that no witness was offered yet. */
  start(): void {
    if (this.#isStopped || this.all.length === 0) return;
    this.#end = repeat(this.#options.lookIntervalMs ?? lookIntervalMsDefault, () => this.#look());
  }

  /** A log has a new checkpoint. Returns at once. */
  announce(identity: LogIdentity): void {
    for (const feed of this.all) feed.announce(identity);
  }

  /** Cuts what is under way; what was not cosigned is found after the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#end(), ...this.all.map((feed) => feed.stop())]);
  }

  async #look(): Promise<void> {
    if (this.#options.areCommitsHalted?.() === true) return;
    try {
      for (const feed of this.all) await feed.lookForMissed();
      this.#options.onSuccess?.();
    } catch (error) {
      if (!this.#isStopped) this.#options.onFailure(error);
    }
  }
}
