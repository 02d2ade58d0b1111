// What can go wrong for a caller of the service.
import type { Problem, ReserveResult } from "../contract/types.ts";

/** The service answered with an error status. The message is the problem's `detail`. */
export class ServiceProblem extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** From the catalog of errors, for programs to decide by; null where the status says it all. */
  readonly code: string | null;
  /** By which the server's log has the request. */
  readonly requestId: string | null;
  /** The problem detail (RFC 9457); of a wallet's path, and of a proxy's own answer, only `detail`. */
  readonly problem: Partial<Problem>;
  /** What `Retry-After` said. */
  readonly retryAfterSeconds: number | null;
  /** Whether an earlier attempt of the same request was not answered, and may have been carried out. */
  readonly wasRepeated: boolean;

  constructor(reply: {
    status: number;
    problem: Partial<Problem>;
    requestId: string | null;
    retryAfterSeconds: number | null;
    wasRepeated: boolean;
  }) {
    super(reply.problem.detail ?? reply.problem.title ?? `the service answered ${reply.status}`);
    this.name = "ServiceProblem";
    this.status = reply.status;
    this.code = reply.problem.code ?? null;
    this.requestId = reply.requestId;
    this.problem = reply.problem;
    this.retryAfterSeconds = reply.retryAfterSeconds;
    this.wasRepeated = reply.wasRepeated;
  }
}

/** The service could not be reached, or the connection broke before the end of its answer. */
export class ServiceUnreachable extends Error {
  constructor(url: string, cause: unknown) {
    super(`no answer from ${url}: ${reasonOf(cause)}`, { cause });
    this.name = "ServiceUnreachable";
  }
}

/** The message of an error of OpenSSL has its source file and line; it says what happened apart from these. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if ("library" in cause && "reason" in cause)
    return `${String(cause.library)}: ${String(cause.reason)}`;
  return cause.message || cause.name;
}

/** The externalId of a reservation had been used for a credit or a debit of the wallet: nothing is held. */
export class ReservationConflict extends Error {
  /** What the service answered: a duplicate, with the figures of now in smallest units. */
  readonly result: ReserveResult;

  constructor(result: ReserveResult) {
    super("nothing is held: the externalId is that of an earlier credit or debit");
    this.name = "ReservationConflict";
    this.result = result;
  }
}
