// `log resume`: lets halted logs go on, for an operator who knows that nothing longer was shown.
import type { Environment } from "../../../config.ts";
import { resumeLog } from "../../../engine/logs/halted-logs.ts";
import { requireKeptCheckpoint } from "../../../engine/logs/kept-checkpoint.ts";
import { listWitnessObjections } from "../../../engine/logs/witness-objections.ts";
import type { SubmissionWitness } from "../../../engine/logs/witness-request.ts";
import { loadLogPolicy, submissionWitnesses } from "../../../server/log-policy.ts";
import { SignedCheckpointFiles } from "../../../store/embedded/signed-checkpoints.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import { messageOf } from "../../../core/thrown.ts";
import { counted } from "../../terminal/counted.ts";
import { withChosenLogs, type HaltedLogFlags, type LogOfLedger } from "./halted-logs.ts";

const question =
  "Resume signing? Do so only if nobody was ever shown more of the logs than this database has.";

export async function resumeLogs(
  log: string | undefined,
  flags: HaltedLogFlags,
  environment: Environment,
): Promise<void> {
  await withChosenLogs(log, flags, environment, question, async (context, logs) => {
    const { pool, output, database } = context;
    const witnesses = await readWitnesses(environment);
    if (witnesses.length === 0) {
      output.note("No witness is asked: LEDGERCTL_LOG_POLICY names no policy with the URL of one.");
    }
    const kept = database.dataDir === null ? null : new SignedCheckpointFiles(database.dataDir);
    const resumed: LogOfLedger[] = [];
    const refused: string[] = [];
    for (const one of logs) {
      try {
        const isResumed = await resumeLog(pool, one, async (transaction, identity) => {
          if (kept !== null) await requireKeptCheckpoint(transaction, identity, kept);
          const objections = await listWitnessObjections(transaction, identity, witnesses);
          if (objections.length > 0) throw new Error(objections.join("; "));
        });
        if (isResumed) resumed.push(one);
      } catch (error) {
        refused.push(`${one.log} of ledger ${one.ledgerId}: ${messageOf(error)}`);
      }
    }
    output.result({ resumed }, () => `${counted(resumed.length, "log")} resumed`);
    if (refused.length > 0) {
      throw new CommandFailure(
        `${counted(refused.length, "log")} not resumed. ${refused.join("; ")}. ` +
          "`ledgerctl log restart` begins a log anew under another origin",
        exitCodes.conflict,
      );
    }
  });
}

/** Those of the policy that the environment names. */
async function readWitnesses({ logPolicy }: Environment): Promise<readonly SubmissionWitness[]> {
  return logPolicy === null ? [] : submissionWitnesses((await loadLogPolicy(logPolicy)).policy);
}
