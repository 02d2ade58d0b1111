// The body of a request from its bytes to JSON: what it must be declared as, and what it must be.
import { isUtf8, type Buffer } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { Refusal, validationRefusal } from "../core/errors.ts";
import { parseExactJson, type ExactJson } from "../contract/exact-json.ts";

/** Parses a body; an empty one is none, whatever its media type. Throws `unsupportedMediaType` or `validation`. */
export function readJsonBody(headers: IncomingHttpHeaders, body: Buffer | null): ExactJson | null {
  if (body === null || body.length === 0) return null;
  requireJson(headers);
  if (!isUtf8(body)) {
    throw validationRefusal([{ path: [], detail: "the body is not valid UTF-8" }]);
  }
  try {
    return parseExactJson(body.toString("utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw validationRefusal([{ path: [], detail: `the body is not valid JSON: ${error.message}` }]);
  }
}

function requireJson(headers: IncomingHttpHeaders): void {
  if (isPlainJson(headers)) return;
  const [mediaType = "", ...parameters] = (headers["content-type"] ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  const encoding = headers["content-encoding"] ?? "identity";
  const isJson =
    mediaType === "application/json" &&
    (charset === undefined || /^charset="?utf-?8"?$/.test(charset)) &&
    encoding.toLowerCase() === "identity";
  if (!isJson) {
    throw new Refusal(
      "unsupportedMediaType",
      "the body must be declared application/json in UTF-8",
    );
  }
}

/** What nearly every client sends; the rest of the rule need not be read for it. */
function isPlainJson(headers: IncomingHttpHeaders): boolean {
  return headers["content-type"] === "application/json" && !("content-encoding" in headers);
}
