// `log restart`: begins logs anew, each under its next origin and with a key of its own.
import type { Environment } from "../../../config.ts";
import { restartLog } from "../../../engine/logs/halted-logs.ts";
import { counted } from "../../terminal/counted.ts";
import { withChosenLogs, type HaltedLogFlags } from "./halted-logs.ts";

const question =
  "Begin anew? Everybody who follows the logs is told, and checks that the new ones begin with what they have seen.";

export async function restartLogs(
  log: string | undefined,
  flags: HaltedLogFlags,
  environment: Environment,
): Promise<void> {
  await withChosenLogs(log, flags, environment, question, async ({ pool, output }, logs) => {
    const restarted = [];
    for (const one of logs) {
      restarted.push({ ...one, generation: await restartLog(pool, one) });
    }
    output.result({ restarted }, () => `${counted(restarted.length, "log")} begun anew`);
  });
}
