// Sending one signed request and printing what came back, whatever it is.
import { ServiceProblem, type Problem } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { exitCodeOfProblem, exitCodes, type ExitCode } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { readBody, requireTarget, type BodyFlags } from "../../input/request-arguments.ts";
import { indentedJson } from "../../terminal/indented-json.ts";
import { withService } from "../../connection/service-context.ts";

export type RequestFlags = ServiceFlags & BodyFlags;

/** Resolves with the exit code that the reply's status stands for. */
export async function request(
  method: string,
  target: string,
  flags: RequestFlags,
  environment: Environment,
): Promise<ExitCode> {
  requireTarget(target);
  const body = await readBody(flags);
  return withService(flags, environment, async ({ output, client }) => {
    const reply = await client.request(method.toUpperCase(), target, body);
    output.verbatim(process.stdout.isTTY ? indentedJson(reply.text) : reply.text);
    if (reply.status < 300) return exitCodes.done;
    const { status, requestId } = reply;
    const problem = readProblem(reply.text);
    if (output.isJson) {
      const never = { retryAfterSeconds: null, wasRepeated: false };
      output.failure(new ServiceProblem({ status, problem, requestId, ...never }));
    } else output.note(`${status}, request ${requestId ?? "unknown"}`);
    return exitCodeOfProblem(status, problem.code ?? null);
  });
}

/** What a reply says of itself as a problem; nothing where it is none. */
function readProblem(text: string): Partial<Problem> {
  try {
    // Wallets' paths answer `{error}` alone.
    const { code, title, error, detail = error } = JSON.parse(text) as Record<string, unknown>;
    const texts = Object.entries({ code, title, detail }).filter(
      ([, value]) => typeof value === "string",
    );
    return Object.fromEntries(texts);
  } catch {
    return {};
  }
}
