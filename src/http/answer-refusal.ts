// Answering a request with a refusal, or with whatever was thrown.
import type { FastifyReply, FastifyRequest } from "fastify";
import { asRefusal, problemReply } from "./problems.ts";
import { pathOf } from "./request-notes.ts";

export function answerRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = asRefusal(error);
  const { notes } = request;
  if (notes) {
    notes.refusal = refusal;
    if (refusal.problem === "unavailable") notes.bucket?.giveBack(notes.tokensTaken);
  }
  const { status, headers, body } = problemReply(refusal, {
    id: request.id,
    path: pathOf(request),
    hasExternalId: refusal.problem === "outcomeUnknown" && mentionsExternalId(notes?.body),
  });
  reply.header("x-request-id", request.id).code(status).headers(headers).send(body);
}

interface Keyed {
  readonly externalId?: unknown;
}

/**
 * Only asked when an outcome is unknown: an accepted body with this member has it as its idempotency key. In an
 * atomic bulk, one item that has it keeps all of them from being written twice.
 */
function mentionsExternalId(body: Buffer | null | undefined): boolean {
  if (body === null || body === undefined) return false;
  try {
    const value = JSON.parse(body.toString("utf8")) as Keyed & {
      entries?: readonly Keyed[];
      transfers?: readonly Keyed[];
    };
    return [value, ...(value.entries ?? []), ...(value.transfers ?? [])].some(
      ({ externalId }) => (externalId ?? null) !== null,
    );
  } catch {
    return false;
  }
}
