// The log's line about a request that was answered, upgrades included. What its caller must not know (why a
// signature was refused, what broke) is in this line.
import { isOverload, type Refusal } from "../core/errors.ts";
import { messageOf } from "../core/thrown.ts";
import type { Log } from "../log.ts";
import type { Caller } from "./authenticate.ts";

interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly durationMs: number;
  readonly remoteAddress: string | undefined;
  readonly caller: Caller | undefined;
}

/** The longest path of a route is far shorter, but for the key of a wallet. */
const loggedPathCharactersMax = 512;

/** Tells of an answer; `describe` is only asked when a line is written: at the usual level most requests have none. */
export type LogAnswer = (
  status: number,
  refusal: Refusal | undefined,
  describe: () => AnsweredRequest,
) => void;

/** The log of all answers of a server. Rejections are counted, since there may be thousands a second. */
export function logAnswersTo(log: Log): LogAnswer {
  const overloaded = new RejectionCount(log, "requests were rejected: overloaded");
  const limited = new RejectionCount(
    log,
    "requests were rejected: over the rate limit of their key",
  );
  return (status, refusal, describe) => {
    const level = levelOf(status, refusal);
    if (isOverload(refusal)) overloaded.add(undefined);
    else if (refusal?.problem === "rateLimited") limited.add(describe().caller?.apiKey);
    if (log.isLevelEnabled(level)) log[level](lineOf(status, refusal, describe()), "request");
  };
}

const namedKeysMax = 10;

/** Rejections of one kind, in a line a second, with some of the keys. */
class RejectionCount {
  readonly #log: Log;
  readonly #message: string;
  readonly #apiKeys = new Set<string>();
  #requests = 0;

  constructor(log: Log, message: string) {
    this.#log = log;
    this.#message = message;
  }

  add(apiKey: string | undefined): void {
    this.#requests += 1;
    if (apiKey !== undefined && this.#apiKeys.size < namedKeysMax) this.#apiKeys.add(apiKey);
    if (this.#requests > 1) return;
    setTimeout(() => {
      const requests = this.#requests;
      this.#log.warn(
        this.#apiKeys.size === 0 ? { requests } : { requests, apiKeys: [...this.#apiKeys] },
        this.#message,
      );
      this.#requests = 0;
      this.#apiKeys.clear();
    }, 1_000).unref();
  }
}

function levelOf(
  status: number,
  refusal: Refusal | undefined,
): "debug" | "info" | "warn" | "error" {
  // A line each for those who want to see everything.
  if (isOverload(refusal)) return "debug";
  // A refused signature is worth a line at the usual level: its cause is logged nowhere else.
  if (refusal?.problem === "unauthorized") return "info";
  if (refusal?.problem === "internal") return "error";
  return status >= 500 ? "warn" : "debug";
}

function lineOf(status: number, refusal: Refusal | undefined, answered: AnsweredRequest) {
  const { path, durationMs, caller, ...rest } = answered;
  return {
    ...rest,
    path: path.slice(0, loggedPathCharactersMax),
    status,
    durationMs: Math.round(durationMs * 100) / 100,
    ...(caller && { apiKey: caller.apiKey, organizationId: caller.organizationId }),
    ...(refusal && { refusal: refusal.code ?? refusal.problem }),
    ...(refusal?.cause !== undefined && { cause: describeCause(refusal) }),
  };
}

/** A bug with its stack; of a database that is away, where it was found says nothing. */
function describeCause({ problem, cause }: Refusal): string {
  const stack = problem === "internal" && cause instanceof Error ? cause.stack : undefined;
  return stack ?? messageOf(cause);
}
