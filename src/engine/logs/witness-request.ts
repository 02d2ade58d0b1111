// One request to a witness: a checkpoint is submitted, and what was answered is taken apart (C2SP tlog-witness,
// add-checkpoint). A witness may be anybody's: nothing it sends is trusted, and it can't make anybody wait for long.
import type { Dispatcher } from "undici";
import request from "undici/lib/api/api-request.js";
import Pool from "undici/lib/dispatcher/pool.js";
import { cosignatureTime, parseDecimal } from "../../core/checkpoint.ts";
import type { Hash } from "../../core/merkle.ts";
import {
  MalformedNote,
  parseNote,
  signatureOf,
  type NoteSignature,
  type VerifierKey,
} from "../../core/note.ts";
import { quoted } from "../../core/text.ts";
import { errorCode, messageOf } from "../../core/thrown.ts";

/** A witness that takes checkpoints. */
export interface SubmissionWitness {
  /** Its name in the policy. */
  readonly name: string;
  readonly key: VerifierKey;
  /** The submission prefix: http or https, see `submissionUrlFault`. */
  readonly url: string;
}

export interface AddCheckpoint {
  /** The size that the witness has; 0 for none. */
  readonly oldSize: number;
  /** From that size on (RFC 6962, section 2.1.2); empty for 0. */
  readonly proof: readonly Hash[];
  /** The checkpoint as a signed note. */
  readonly note: string;
}

export type WitnessAnswer =
  /** `time` in Unix seconds. */
  | { readonly outcome: "cosigned"; readonly signature: NoteSignature; readonly time: number }
  /** It has another size than the old one. */
  | { readonly outcome: "conflict"; readonly size: number }
  /** What it has seen is not the beginning of the checkpoint's tree. */
  | { readonly outcome: "inconsistent" };

/** A witness did not answer as the specification has it, or not at all. */
export class WitnessFailure extends Error {
  override name = "WitnessFailure";
  /** Whether only this log is concerned; else nothing may be expected of the witness for a while. */
  readonly concernsLog: boolean;
  /** What `Retry-After` said; 0 without. */
  readonly retryAfterMs: number;

  constructor(
    message: string,
    {
      concernsLog = false,
      retryAfterMs = 0,
      ...options
    }: ErrorOptions & { concernsLog?: boolean; retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.concernsLog = concernsLog;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Room for a dozen signatures of the longest type. */
const answerBytesMax = 64 * 1024;
/** Clocks differ, but not by more. */
const aheadSecondsMax = 86_400;
const retryAfterMsMax = 3_600_000;
const requestTimeoutMs = 15_000;

/** What is wrong with the URL of a witness, or null. Paths are fine; queries and passwords are not sent. */
export function submissionUrlFault(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    return "must be an http:// or https:// URL";
  }
  const isPlain =
    url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isPlain ? null : "must have no user, no query and no fragment";
}

/** Connections to one witness, kept open; each carries one request at a time. */
export class WitnessConnection {
  readonly witness: SubmissionWitness;
  readonly #pool: Pool;
  readonly #path: string;
  readonly #timeoutMs: number;

  constructor(
    witness: SubmissionWitness,
    {
      connections = 1,
      timeoutMs = requestTimeoutMs,
    }: { connections?: number; timeoutMs?: number } = {},
  ) {
    const url = new URL(witness.url);
    this.witness = witness;
    this.#path = `${url.pathname.replace(/\/+$/, "")}/add-checkpoint`;
    this.#timeoutMs = timeoutMs;
    this.#pool = new Pool(url.origin, {
      connections,
      pipelining: 1,
      connect: { timeout: timeoutMs },
      maxResponseSize: answerBytesMax,
    });
  }

  /** Submits a checkpoint. Rejects with WitnessFailure. */
  async addCheckpoint(submission: AddCheckpoint): Promise<WitnessAnswer> {
    const { status, headers, text } = await this.#send(formatRequest(submission));
    if (status === 200) return this.#readCosignature(submission.note, text);
    if (status === 409) return { outcome: "conflict", size: readSize(headers, text) };
    if (status === 422) return { outcome: "inconsistent" };
    const said = text === "" ? "" : `: ${quoted(text.trim())}`;
    // It may not know the log, or not its key: others it does know.
    const concernsLog = status >= 400 && status < 500 && status !== 408 && status !== 429;
    throw new WitnessFailure(`answered ${status}${said}`, {
      concernsLog,
      retryAfterMs: readRetryAfterMs(headers),
    });
  }

  /** Cuts what is under way. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #send(body: string) {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      const {
        statusCode,
        headers,
        body: answer,
      } = await request.call(this.#pool, {
        method: "POST",
        path: this.#path,
        headers: { "content-type": "text/plain; charset=utf-8" },
        body,
        signal,
      });
      return { status: statusCode, headers, text: await answer.text() };
    } catch (error) {
      const reason = signal.aborted
        ? `no answer within ${this.#timeoutMs / 1000} s`
        : // Where a name has several addresses, there is a code but no message.
          messageOf(error) || (errorCode(error) ?? "no connection");
      throw new WitnessFailure(reason, { cause: error });
    }
  }

  #readCosignature(note: string, lines: string): WitnessAnswer {
    const { key } = this.witness;
    try {
      // As a note that has these signatures alone.
      const { text } = parseNote(note);
      const answered = parseNote(`${text}\n${lines}`);
      if (answered.text !== text) throw new MalformedNote("has more than signatures");
      const signature = signatureOf(answered, key);
      if (signature === null)
        throw new MalformedNote(`has no signature of ${key.name}+${key.keyId}`);
      const time = cosignatureTime(text, signature, key);
      if (time === null) throw new MalformedNote("has a signature that does not hold");
      if (time > Date.now() / 1000 + aheadSecondsMax) {
        throw new MalformedNote("has a signature of more than a day from now");
      }
      return { outcome: "cosigned", signature, time };
    } catch (error) {
      if (!(error instanceof MalformedNote)) throw error;
      throw new WitnessFailure(`what was answered ${error.message}`);
    }
  }
}

function formatRequest({ oldSize, proof, note }: AddCheckpoint): string {
  const hashes = proof.map((hash) => `${hash.toString("base64")}\n`).join("");
  return `old ${oldSize}\n${hashes}\n${note}`;
}

type Headers = Dispatcher.ResponseData["headers"];

/** The size that a conflict tells. */
function readSize(headers: Headers, text: string): number {
  const type = String(headers["content-type"] ?? "")
    .split(";")[0]
    ?.trim()
    .toLowerCase();
  if (type !== "text/x.tlog.size" || !text.endsWith("\n")) {
    throw new WitnessFailure("answered 409 without a size", { concernsLog: true });
  }
  try {
    return parseDecimal(text.slice(0, -1), "size");
  } catch (error) {
    throw new WitnessFailure(`answered 409: ${messageOf(error)}`, { concernsLog: true });
  }
}

function readRetryAfterMs(headers: Headers): number {
  const text = headers["retry-after"];
  const seconds = typeof text === "string" && /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
  return Math.min(seconds * 1000, retryAfterMsMax);
}
