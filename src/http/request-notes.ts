// What is noted of a request while it runs: for its answer, its line in the log and the counts.
import type { FastifyRequest } from "fastify";
import type { RouteName } from "../contract/routes.ts";
import type { Refusal } from "../core/errors.ts";
import type { Caller } from "./authenticate.ts";
import type { TokenBucket } from "./rate-limit.ts";

export interface RequestNotes {
  route: RouteName | null;
  body: Buffer | null;
  caller: Caller | undefined;
  /** Of the caller's key, where there is a rate limit. */
  bucket: TokenBucket | undefined;
  /** From that bucket. */
  tokensTaken: number;
  refusal: Refusal | undefined;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Missing where a request broke before the first hook. */
    notes?: RequestNotes | null;
  }
}

export function newNotes(): RequestNotes {
  return {
    route: null,
    body: null,
    caller: undefined,
    bucket: undefined,
    tokensTaken: 0,
    refusal: undefined,
  };
}

export function pathOf(request: FastifyRequest): string {
  return pathOfTarget(request.raw.url ?? "");
}

/** The path of a request target, without its query. */
export function pathOfTarget(target: string): string {
  // A target in absolute form (RFC 9112, section 3.2.2) is routed by its path alone.
  const origin = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const question = origin.indexOf("?");
  return question < 0 ? origin : origin.slice(0, question);
}
