// What every benchmark begins with: the service, the ledger that it writes to, and where it reports to.
import { randomBytes } from "node:crypto";
import type { Environment } from "../../../config.ts";
import { LedgerClient, type Ledger } from "../../../client/ledger-client.ts";
import {
  requireCredentials,
  requireHttpUrl,
  resolveConnection,
  type Connection,
} from "../../connection/settings.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
import { exitOnInterrupt } from "../../terminal/interrupts.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { ProgressLine } from "../../terminal/progress-line.ts";

/** What a workload has to know of where it goes. */
export interface WorkloadBench {
  readonly connection: Connection;
  readonly client: LedgerClient;
  readonly ledger: Ledger;
  /** In every externalId and wallet of this run: `bench-{run}-…`. */
  readonly run: string;
}

export interface Bench extends WorkloadBench {
  readonly output: Output;
  readonly progress: ProgressLine;
}

/** Closing a million entries is one request. */
const timeoutMs = 600_000;

/** Runs a benchmark on the ledger that flags, environment and profile name; resolves with its exit code. */
export async function withBench(
  flags: ServiceFlags,
  environment: Environment,
  act: (bench: Bench) => Promise<number>,
): Promise<number> {
  const output = new Output(flags, environment.isColorRefused);
  const connection = requireCredentials(await resolveConnection(flags, environment, output));
  requireHttpUrl(connection.url);
  const client = new LedgerClient({ ...connection, retryForMs: 5_000, timeoutMs });
  const progress = new ProgressLine(!output.isQuiet);
  try {
    const ledger = await requireOpenLedger(client, connection.ledger);
    const run = randomBytes(6).toString("hex");
    exitOnInterrupt(() => {
      progress.end();
    });
    output.note(`writing to ledger ${ledger.id} for real, as bench-${run}-…`);
    progress.tell(() => "preparing");
    return await act({ connection, client, ledger, run, output, progress });
  } finally {
    progress.end();
    await client.close();
  }
}

async function requireOpenLedger(client: LedgerClient, ledgerId: string | null): Promise<Ledger> {
  if (ledgerId === null) throw usageFailure("name the ledger with --ledger or LEDGERCTL_LEDGER");
  const ledger = await client.getLedger(ledgerId);
  if (ledger.status === "active") return ledger;
  throw new CommandFailure(`ledger ${ledgerId} is ${ledger.status}`, exitCodes.conflict);
}
