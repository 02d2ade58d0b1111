// Brings new checkpoints to one witness, and keeps its cosignatures. Only the newest checkpoint of a log matters: what waits
// is the names of logs. Nothing ever waits for a witness.
import type { LogIdentity } from "../../core/log-origin.ts";
import type { Hash } from "../../core/merkle.ts";
import { formatVerifierKey, type NoteSignature } from "../../core/note.ts";
import { Backoff } from "./backoff.ts";
import { WitnessConnection, WitnessFailure, type SubmissionWitness } from "./witness-request.ts";
import { submitCheckpoint, type SubmissionOutcome } from "./witness-submission.ts";

/** A checkpoint that was signed. */
export interface NewestCheckpoint {
  readonly size: number;
  /** The signed note. */
  readonly note: string;
  /** Of a checkpoint of this log that the witness cosigned: the largest size that is known, 0 for none. */
  readonly cosignedSize: number;
}

/** What a feed needs of the logs. */
export interface FedLogs {
  /** The newest checkpoint, which no failover takes back; null where there is none, or the log is halted. */
  findNewest(identity: LogIdentity, witnessKey: string): Promise<NewestCheckpoint | null>;
  /** That a tree begins with a smaller one of at least one leaf (RFC 6962, section 2.1.2). */
  prove(identity: LogIdentity, from: number, to: number): Promise<readonly Hash[]>;
  /** `time` in Unix seconds. */
  keepCosignature(
    identity: LogIdentity,
    cosignature: { size: number; witnessKey: string; signature: NoteSignature; time: number },
  ): Promise<void>;
  halt(identity: LogIdentity, reason: string): Promise<void>;
  /** Logs that are not halted, of whose newest checkpoint this witness has no cosignature that is known. */
  listUncosigned(witnessKey: string, limit: number): Promise<readonly LogIdentity[]>;
}

export interface WitnessFeedOptions {
  /** Requests at a time to one witness; 4 unless given. */
  readonly connections?: number;
  /** How long one may take; 15,000 unless given. */
  readonly timeoutMs?: number;
  /** The first pause after a failure, doubled with each one up to the longest; 1 s to 1 minute unless given. */
  readonly backoffMs?: { readonly first: number; readonly longest: number };
  /** Whether COMMITs wait for a standby without end, so that none may be added; unless given, never. */
  readonly areCommitsHalted?: () => boolean;
  /** The witness does not do what it should. Is called each time. */
  readonly onWitnessFailure: (witness: SubmissionWitness, error: WitnessFailure) => void;
  /** The witness answered as it should, if only that it does not take a log. Is called each time. */
  readonly onAnswer: (witness: SubmissionWitness) => void;
  /** The witness does not take this log, others perhaps. */
  readonly onRefusal: (witness: SubmissionWitness, log: LogIdentity, error: WitnessFailure) => void;
  readonly onHalt: (log: LogIdentity, reason: string) => void;
  /** The database failed. */
  readonly onFailure: (error: unknown) => void;
}

/** Logs that wait, and logs that are refused, of which this much is remembered; others are found when they are looked for. */
const logsMax = 20_000;
const connectionsMax = 4;
const defaultBackoffMs = { first: 1_000, longest: 60_000 };
/** A log that a witness does not know is offered again, but not with each checkpoint. */
const refusedBackoffMs = { first: 60_000, longest: 3_600_000 };

export class WitnessFeed {
  readonly witness: SubmissionWitness;
  readonly #witnessKey: string;
  readonly #logs: FedLogs;
  readonly #options: WitnessFeedOptions;
  readonly #connection: WitnessConnection;
  readonly #connections: number;
  /** Logs that have a new checkpoint, by name, the one that waits longest first. */
  readonly #waiting = new Map<string, LogIdentity>();
  /** What is under way, by the name of the log. */
  readonly #submitting = new Map<string, Promise<void>>();
  readonly #refused = new Map<string, Backoff>();
  readonly #away: Backoff;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  /** Since the start: what became of submissions. */
  readonly counts = { cosigned: 0, inconsistent: 0, refused: 0, failed: 0 };

  constructor(logs: FedLogs, witness: SubmissionWitness, options: WitnessFeedOptions) {
    const { connections = connectionsMax, timeoutMs, backoffMs = defaultBackoffMs } = options;
    this.witness = witness;
    this.#witnessKey = formatVerifierKey(witness.key);
    this.#logs = logs;
    this.#options = options;
    this.#connections = connections;
    this.#connection = new WitnessConnection(witness, {
      connections,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    this.#away = new Backoff(backoffMs);
  }

  /** Whether it answered the last time that it was asked; true before the first. */
  get isUp(): boolean {
    return this.#away.failures === 0;
  }

  /** Checkpoints that wait, and those that are under way. */
  get waiting(): number {
    return this.#waiting.size + this.#submitting.size;
  }

  /** A log has a new checkpoint. */
  announce(identity: LogIdentity): void {
    if (this.#isStopped) return;
    const name = nameOf(identity);
    const isRefused = (this.#refused.get(name)?.remainingMs() ?? 0) > 0;
    if (isRefused || this.#waiting.size >= logsMax) return;
    this.#waiting.set(name, identity);
    this.#submitNext();
  }

  /** Looks for checkpoints that were not announced, or could not be submitted. Rejects where the database fails. */
  async lookForMissed(): Promise<void> {
    // One that is away is asked with what waits already.
    if (!this.isUp && this.#waiting.size > 0) return;
    for (const identity of await this.#logs.listUncosigned(this.#witnessKey, logsMax)) {
      this.announce(identity);
    }
  }

  /** Cuts requests; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    this.#endPause();
    await this.#connection.close();
    await Promise.all(this.#submitting.values());
  }

  /** Begins what may begin now. A witness that is away is asked once at a time, after a pause. */
  #submitNext(): void {
    if (this.#isStopped || this.#timer !== null || this.#waiting.size === 0) return;
    const pauseMs = this.#away.remainingMs();
    if (pauseMs > 0) {
      this.#timer = setTimeout(() => {
        this.#endPause();
        this.#submitNext();
      }, pauseMs).unref();
      return;
    }
    const most = this.isUp ? this.#connections : 1;
    for (const [name, identity] of this.#waiting) {
      if (this.#submitting.size >= most) return;
      if (this.#submitting.has(name)) continue;
      this.#waiting.delete(name);
      this.#submitting.set(name, this.#submitLog(name, identity));
    }
  }

  #endPause(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #submitLog(name: string, identity: LogIdentity): Promise<void> {
    try {
      if (this.#options.areCommitsHalted?.() !== true) await this.#submit(identity);
      this.#refused.delete(name);
    } catch (error) {
      if (!this.#isStopped) this.#fail(name, identity, error);
    } finally {
      this.#submitting.delete(name);
      this.#submitNext();
    }
  }

  async #submit(identity: LogIdentity): Promise<void> {
    const newest = await this.#logs.findNewest(identity, this.#witnessKey);
    if (newest === null) return;
    const { size, note, cosignedSize } = newest;
    if (cosignedSize === size) {
      // Another server has it from the witness, which is not away then.
      this.#noteAnswer();
      return;
    }
    const checkpoint = {
      size,
      note,
      proveFrom: (from: number) => this.#logs.prove(identity, from, size),
    };
    const answer = await submitCheckpoint(this.#connection, checkpoint, cosignedSize);
    this.#noteAnswer();
    await this.#take(identity, size, answer);
  }

  #noteAnswer(): void {
    this.#away.reset();
    this.#endPause();
    this.#options.onAnswer(this.witness);
  }

  async #take(identity: LogIdentity, size: number, answer: SubmissionOutcome): Promise<void> {
    const { name } = this.witness;
    if (answer.outcome === "cosigned") {
      const { signature, time } = answer;
      const cosignature = { size, witnessKey: this.#witnessKey, signature, time };
      await this.#logs.keepCosignature(identity, cosignature);
      this.counts.cosigned += 1;
    } else if (answer.outcome === "inconsistent") {
      await this.#halt(
        identity,
        `the witness ${name} refused the checkpoint of size ${size} (422): what it has seen, of size ${answer.size}, ` +
          "is not its beginning",
      );
    } else {
      // Another server may have made a checkpoint meanwhile.
      const newest = await this.#logs.findNewest(identity, this.#witnessKey);
      if (newest === null) return;
      if (answer.size <= newest.size) this.announce(identity);
      else {
        await this.#halt(
          identity,
          `the witness ${name} has seen size ${answer.size} (409), and the newest checkpoint has size ${newest.size}`,
        );
      }
    }
  }

  async #halt(identity: LogIdentity, reason: string): Promise<void> {
    this.counts.inconsistent += 1;
    await this.#logs.halt(identity, reason);
    this.#options.onHalt(identity, reason);
  }

  #fail(name: string, identity: LogIdentity, error: unknown): void {
    if (!(error instanceof WitnessFailure)) {
      this.#options.onFailure(error);
    } else if (error.concernsLog) {
      this.counts.refused += 1;
      this.#refuse(name);
      this.#noteAnswer();
      this.#options.onRefusal(this.witness, identity, error);
    } else {
      this.counts.failed += 1;
      // Those that were under way when the first of them failed add nothing.
      if (this.#away.remainingMs() === 0) this.#away.fail(error.retryAfterMs);
      if (!this.#waiting.has(name)) this.#waiting.set(name, identity);
      this.#options.onWitnessFailure(this.witness, error);
    }
  }

  #refuse(name: string): void {
    const backoff = this.#refused.get(name) ?? new Backoff(refusedBackoffMs);
    backoff.fail();
    // The last in the map is the one that was refused last.
    this.#refused.delete(name);
    this.#refused.set(name, backoff);
    const [first] = this.#refused.keys();
    if (this.#refused.size > logsMax && first !== undefined) this.#refused.delete(first);
  }
}

function nameOf({ ledgerId, log, generation }: LogIdentity): string {
  return `${ledgerId}/${log}.${generation}`;
}
