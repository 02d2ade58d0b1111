// What `doctor` finds where a server is ready: one that was slow for a moment says that it is not.
import type { CliResult } from "./cli.ts";
import { until } from "./until.ts";

const isUnready = /^FAIL {2}readiness |"name":"readiness","ok":false/m;

/** Runs doctor until it finds that a write would succeed, or can't see it; all else is left to whoever asks. */
export function doctorOnceReady(run: () => Promise<CliResult>): Promise<CliResult> {
  return until("doctor to find the server ready", async () => {
    const ended = await run();
    return !isUnready.test(ended.stdout) && ended;
  });
}
