// From an error to the answer that the caller sees: problem details (RFC 9457), or `{ error }` on
// wallet paths. Of a bug nothing leaks but the request id.
import { STATUS_CODES } from "node:http";
import { retryAfterSeconds } from "./admission.ts";
import { jsonPointer, problemKinds, Refusal, type Fault } from "../core/errors.ts";
import type { Problem } from "../contract/types.ts";
import { errorCode } from "../core/thrown.ts";
import { AmbiguousCommit, isTransient } from "../store/database/errors.ts";

/** What is thrown anywhere in a request, as a Refusal; `internal` for a bug. */
export function asRefusal(error: unknown): Refusal {
  // It stands, whatever caused it: an outcome that is unknown must not become "certainly not written".
  if (error instanceof Refusal) return error;
  if (error instanceof AmbiguousCommit) {
    const detail = "it could not be learned whether this was written";
    return new Refusal("outcomeUnknown", detail, { cause: error });
  }
  if (isTransient(error)) {
    const detail = "the database can't be reached at the moment";
    return new Refusal("unavailable", detail, { cause: error });
  }
  if (errorCode(error) === "FST_ERR_BAD_URL") {
    return new Refusal("unknownPath", "there is nothing here");
  }
  const detail = "an unexpected error; the server's log has it under this request's id";
  return new Refusal("internal", detail, { cause: error });
}

/** `hasExternalId`: whether the request had one, with which a retry is safe whatever became of the first. */
export function problemReply(
  refusal: Refusal,
  request: { id: string; path: string; hasExternalId: boolean },
): { status: number; headers: Record<string, string>; body: string } {
  const headers: Record<string, string> = {};
  if (refusal.problem === "unauthorized") headers["www-authenticate"] = "Bearer";
  if (refusal.problem === "upgradeRequired") headers["upgrade"] = "websocket";
  if (refusal.retryAfterSeconds !== null) {
    headers["retry-after"] = String(refusal.retryAfterSeconds);
  } else if (
    refusal.problem === "unavailable" ||
    (refusal.problem === "outcomeUnknown" && request.hasExternalId)
  ) {
    headers["retry-after"] = retryAfterSeconds();
  }
  const { type, body } = isWalletPath(request.path)
    ? walletError(plainMessage(refusal))
    : problemDetails(problemDocument(refusal, request.id));
  headers["content-type"] = type;
  return { status: refusal.status, headers, body };
}

/** The body of an answer to what could not be read as a request, and its media type. */
export function unreadableReply(
  request: { id: string; path: string },
  status: number,
  detail: string,
): { type: string; body: string } {
  if (isWalletPath(request.path)) return walletError(detail);
  const instance = `urn:request:${request.id}`;
  const title = STATUS_CODES[status];
  return problemDetails({ type: "about:blank", title, status, detail, instance });
}

function walletError(error: string) {
  return { type: "application/json; charset=utf-8", body: JSON.stringify({ error }) };
}

function problemDetails(problem: object) {
  return { type: "application/problem+json; charset=utf-8", body: JSON.stringify(problem) };
}

/** Routes are found by the decoded path; so is the shape of what is wrong with it. */
function isWalletPath(path: string): boolean {
  const [, version = "", kind = "", rest] = path.split("/", 4);
  try {
    return rest !== undefined && decodeURI(version) === "v1" && decodeURI(kind) === "wallets";
  } catch {
    return false;
  }
}

/** Wallet paths have one message: what is wrong and where, in words. */
export function plainMessage(refusal: Refusal): string {
  if (refusal.faults.length === 0) return refusal.message;
  return refusal.faults
    .map((fault) => {
      const place = "path" in fault ? fault.path.join(".") : fault.parameter;
      return place === "" ? fault.detail : `${place} ${fault.detail}`;
    })
    .join("; ");
}

/** A refusal as problem details of a request. */
export function problemDocument(refusal: Refusal, requestId: string): Problem {
  const { status, code, title } = problemKinds[refusal.problem];
  return {
    type: code === null ? "about:blank" : `urn:ledgerctl:problem:${kebabCase(code)}`,
    title,
    status,
    detail: refusal.message,
    instance: `urn:request:${requestId}`,
    ...(code === null ? {} : { code }),
    // A refusal of one of several entries has its place, whatever the refusal is.
    ...(status === 400 || refusal.faults.length > 0
      ? { errors: refusal.faults.map(wireFault) }
      : {}),
    ...refusal.members,
  };
}

function wireFault(fault: Fault): { detail: string; pointer?: string; parameter?: string } {
  return "path" in fault
    ? { detail: fault.detail, pointer: jsonPointer(fault.path) }
    : { detail: fault.detail, parameter: fault.parameter };
}

function kebabCase(code: string): string {
  return code.toLowerCase().replaceAll("_", "-");
}
