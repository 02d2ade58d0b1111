// What every benchmark begins with: the service, the ledger that it writes to, and where it reports to.
import { randomBytes } from "node:crypto";
import type { LedgerClient, Ledger } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { withService } from "../../connection/service-context.ts";
import type { Connection } from "../../connection/settings.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { CommandFailure, exitCodes, type ExitCode } from "../../failure.ts";
import { exitOnInterrupt } from "../../terminal/interrupts.ts";
import type { Output } from "../../terminal/output.ts";
import { ProgressLine } from "../../terminal/progress-line.ts";

export interface Bench {
  readonly connection: Connection;
  readonly client: LedgerClient;
  readonly ledger: Ledger;
  /** In every externalId and wallet of this run: `bench-{run}-…`. */
  readonly run: string;
  readonly output: Output;
  readonly progress: Pick<ProgressLine, "tell">;
}

/** What a workload is made for. */
export type BenchLedger = Pick<Bench, "client" | "ledger" | "run" | "progress">;

/** Closing a million entries is one request. */
const timeoutMs = 600_000;

/** Runs a benchmark on the ledger that flags, environment and profile name; resolves with its exit code. */
export async function withBench(
  flags: ServiceFlags,
  environment: Environment,
  act: (bench: Bench) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withService(
    flags,
    environment,
    async ({ connection, client, ledgerId, output }) => {
      const progress = new ProgressLine(!output.isQuiet);
      try {
        const ledger = await client.getLedger(ledgerId());
        if (ledger.status !== "active") {
          throw new CommandFailure(`ledger ${ledger.id} is ${ledger.status}`, exitCodes.conflict);
        }
        const run = randomBytes(6).toString("hex");
        exitOnInterrupt(() => {
          progress.end();
        });
        output.note(`writing to ledger ${ledger.id} for real, as bench-${run}-…`);
        progress.tell(() => "preparing");
        return await act({ connection, client, ledger, run, output, progress });
      } finally {
        progress.end();
      }
    },
    { showsProgress: true, retryForMs: 5_000, timeoutMs },
  );
}
