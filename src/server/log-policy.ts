// The tlog-policy file of a server: which witnesses get its checkpoints, and how many of them have to cosign.
import { SettingError } from "../config.ts";
import { MalformedNote } from "../core/note.ts";
import { parseTlogPolicy, type TlogPolicy } from "../core/tlog-policy.ts";
import { submissionUrlFault, type SubmissionWitness } from "../engine/logs/witness-request.ts";
import { readSettingFile } from "./setting-file.ts";

/** A policy, and the file's octets, from which workers read it too. */
export interface LogPolicy {
  readonly octets: Buffer;
  readonly policy: TlogPolicy;
}

const setting = "LEDGERCTL_LOG_POLICY";

/** Reads the policy file that the setting names. Rejects with SettingError, which names the file and the line. */
export async function loadLogPolicy(file: string): Promise<LogPolicy> {
  const octets = await readSettingFile(setting, file);
  try {
    const policy = parseTlogPolicy(octets);
    for (const { name, url } of policy.witnesses) {
      const fault = url === null ? null : submissionUrlFault(url);
      if (fault !== null) throw new MalformedNote(`witness ${name}: the URL ${fault}`);
    }
    return { octets, policy };
  } catch (error) {
    if (!(error instanceof MalformedNote)) throw error;
    throw new SettingError(`${setting} ${file}: ${error.message}`, { cause: error });
  }
}

/** The witnesses that checkpoints are submitted to: those with a URL. */
export function submissionWitnesses({ witnesses }: TlogPolicy): readonly SubmissionWitness[] {
  return witnesses.flatMap(({ name, key, url }) => (url === null ? [] : [{ name, key, url }]));
}
