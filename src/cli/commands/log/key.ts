// `log key`: the verifier keys of a ledger's logs, or a policy that names them.
import type { Log } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { logKinds } from "../../../core/log-origin.ts";
import { MalformedNote } from "../../../core/note.ts";
import { parseTlogPolicy } from "../../../core/tlog-policy.ts";
import { withService } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import { toJson } from "../../terminal/output.ts";
import { requireLogKind } from "./log-argument.ts";

export interface KeyFlags extends ServiceFlags {
  policy?: boolean;
}

export async function printKeys(
  log: string | undefined,
  flags: KeyFlags,
  environment: Environment,
): Promise<void> {
  const kinds = log === undefined ? logKinds : [requireLogKind(log)];
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const logs = await Promise.all(kinds.map((kind) => client.getLog(ledgerId(), kind)));
    if (flags.policy === true) {
      const policy = policyOf(logs);
      if (output.isJson) output.line(toJson({ policy }));
      else output.verbatim(policy.trimEnd());
      return;
    }
    for (const { origin, verifierKey } of logs) {
      output.line(output.isJson ? toJson({ origin, verifierKey }) : verifierKey);
    }
  });
}

/** Every origin that the logs have had, and the witnesses that the server knows. Fails for lines that are no policy. */
function policyOf(logs: readonly Log[]): string {
  const keys = logs.flatMap(({ origins, verifierKey }) => [
    ...origins.map((each) => each.verifierKey),
    verifierKey,
  ]);
  const [witnessLines = []] = logs.map((log) => log.witnessLines);
  const lines = [
    ...[...new Set(keys)].map((key) => `log ${key}`),
    ...(witnessLines.length === 0 ? ["quorum none"] : witnessLines),
  ];
  const policy = lines.map((line) => `${line}\n`).join("");
  try {
    parseTlogPolicy(Buffer.from(policy));
  } catch (error) {
    if (!(error instanceof MalformedNote)) throw error;
    const message = `what the server says makes no policy: ${error.message}`;
    throw new CommandFailure(message, exitCodes.failed);
  }
  return policy;
}
