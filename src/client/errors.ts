// What can go wrong for a caller of the service.
import type { Problem } from "../contract/wire.ts";

/** The service answered with an error status. */
export class ServiceProblem extends Error {
  readonly status: number;
  /** From the catalog, or null where the status has none. */
  readonly code: string | null;
  readonly requestId: string | null;
  readonly problem: Partial<Problem>;
  readonly retryAfterSeconds: number | null;
  /** Whether an earlier attempt of the same request went unanswered, and may have been carried out. */
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

/** The service could not be reached, or the connection broke before it answered. */
export class ServiceUnreachable extends Error {
  constructor(url: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    super(`no answer from ${url}: ${reason}`, { cause });
    this.name = "ServiceUnreachable";
  }
}
