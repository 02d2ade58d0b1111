// Signing a request offline.
import type { Environment } from "../../../config.ts";
import { signRequest } from "../../../core/signing.ts";
import { requireOneOf } from "../../input/arguments.ts";
import { readBody, requireTarget, type BodyFlags } from "../../input/request-arguments.ts";
import { usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { Output, toJson } from "../../terminal/output.ts";
import { printableLines } from "../../terminal/printable.ts";
import { requireCredentials, resolveConnection } from "../../connection/settings.ts";

export interface SignFlags extends ServiceFlags, BodyFlags {
  timestamp?: string;
  format: string;
}

const formats = ["headers", "curl", "json"] as const;

export async function sign(
  methodText: string,
  target: string,
  flags: SignFlags,
  environment: Environment,
): Promise<void> {
  const output = new Output(flags, environment.isColorRefused);
  const format = flags.json === true ? "json" : requireOneOf("--format", flags.format, formats);
  const timestamp = flags.timestamp ?? String(Math.floor(Date.now() / 1000));
  if (!/^[0-9]{1,15}$/.test(timestamp)) throw usageFailure("--timestamp must be Unix seconds");
  requireTarget(target);
  const { url, apiKey, apiSecret } = requireCredentials(
    await resolveConnection(flags, environment, output),
  );
  const body = await readBody(flags);
  const method = methodText.toUpperCase();
  const signature = signRequest(apiSecret, { timestamp, method, target, body }).toString("hex");
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    "X-Timestamp": timestamp,
    "X-Signature": signature,
    ...(body.length === 0 ? {} : { "Content-Type": "application/json" }),
  };
  if (format === "json") output.line(toJson({ method, target, timestamp, signature, headers }));
  else if (format === "curl") output.line(curlCall(method, url + target, headers, body));
  else for (const [name, value] of Object.entries(headers)) output.line(`${name}: ${value}`);
}

/** A curl call for a POSIX shell that sends the body byte for byte. */
function curlCall(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): string {
  const parts = ["curl", "-sS", "-X", method, "--path-as-is", quote(url)];
  for (const [name, value] of Object.entries(headers)) parts.push("-H", quote(`${name}: ${value}`));
  if (body.length === 0) return parts.join(" ");
  const text = body.toString("utf8");
  // What is no text, would not be printed as it is, or begins like a file name to curl, goes in through base64.
  const isShown = Buffer.from(text).equals(body) && printableLines(text) === text;
  if (!isShown || text.startsWith("@")) {
    return `printf %s ${body.toString("base64")} | base64 -d | ${parts.join(" ")} --data-binary @-`;
  }
  return `${parts.join(" ")} --data-binary ${quote(text)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
