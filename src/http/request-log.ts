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

/** The log of all answers of a server. Rejections for overload are counted, since there may be thousands a second. */
export function logAnswersTo(log: Log): LogAnswer {
  let rejections = 0;
  const countRejection = () => {
    rejections += 1;
    if (rejections > 1) return;
    setTimeout(() => {
      log.warn({ requests: rejections }, "requests were rejected: overloaded");
      rejections = 0;
    }, 1_000).unref();
  };
  return (status, refusal, describe) => {
    const level = levelOf(status, refusal);
    if (isOverload(refusal)) countRejection();
    if (log.isLevelEnabled(level)) log[level](lineOf(status, refusal, describe()), "request");
  };
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
