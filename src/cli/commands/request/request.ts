// Sending one signed request and printing what came back, whatever it is.
import type { Environment } from "../../../config.ts";
import { exitCodeOfProblem, exitCodes, type ExitCode } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { readBody, requireTarget } from "../../input/request-arguments.ts";
import { withService } from "../../connection/service-context.ts";

export interface RequestFlags extends ServiceFlags {
  body?: string;
}

/** Resolves with the exit code that the reply's status stands for. */
export async function request(
  method: string,
  target: string,
  flags: RequestFlags,
  environment: Environment,
): Promise<ExitCode> {
  requireTarget(target);
  const body = await readBody(flags.body);
  return withService(flags, environment, async ({ output, client }) => {
    const reply = await client.request(method.toUpperCase(), target, body);
    output.verbatim(reply.text);
    if (reply.status < 300) return exitCodes.done;
    output.note(`${reply.status}, request ${reply.requestId ?? "unknown"}`);
    return exitCodeOfProblem(reply.status, problemCode(reply.text));
  });
}

function problemCode(text: string): string | null {
  try {
    const { code } = JSON.parse(text) as { code?: unknown };
    return typeof code === "string" ? code : null;
  } catch {
    return null;
  }
}
