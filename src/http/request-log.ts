// The log's line about a request that was answered, upgrades included. What its caller must not know (why a
// signature was refused, what broke) is in this line.
import type { Refusal } from "../core/errors.ts";
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

/** `describe` is only asked when the line is written: at the usual level most requests have none. */
export function logAnswer(
  log: Log,
  status: number,
  refusal: Refusal | undefined,
  describe: () => AnsweredRequest,
): void {
  const level = refusal?.problem === "internal" ? "error" : status >= 500 ? "warn" : "debug";
  // A refused signature is worth a line at the usual level: its cause is logged nowhere else.
  const usedLevel = refusal?.problem === "unauthorized" ? "info" : level;
  if (!log.isLevelEnabled(usedLevel)) return;
  const { requestId, method, path, durationMs, remoteAddress, caller } = describe();
  log[usedLevel](
    {
      requestId,
      method,
      path: path.slice(0, loggedPathCharactersMax),
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      remoteAddress,
      ...(caller === undefined
        ? {}
        : { apiKey: caller.apiKey, organizationId: caller.organizationId }),
      ...(refusal === undefined ? {} : { refusal: refusal.code ?? refusal.problem }),
      ...(refusal?.cause === undefined ? {} : { cause: describeCause(refusal) }),
    },
    "request",
  );
}

/** Counts requests that were rejected for overload, and logs how many, once a second: there may be thousands. */
export function countingRejections(log: Log): () => void {
  let requests = 0;
  return () => {
    requests += 1;
    if (requests > 1) return;
    setTimeout(() => {
      log.warn({ requests }, "requests were rejected: overloaded");
      requests = 0;
    }, 1_000).unref();
  };
}

/** A bug with its stack; of a database that is away, the place where it was noticed says nothing. */
function describeCause({ problem, cause }: Refusal): string {
  const stack = problem === "internal" && cause instanceof Error ? cause.stack : undefined;
  return stack ?? messageOf(cause);
}
