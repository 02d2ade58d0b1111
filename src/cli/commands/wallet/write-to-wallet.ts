// Why a wallet write was forbidden: wallet errors carry no code, but exit codes tell a ledger that is
// suspended or closed (6) from a key that may not (4).
import { ServiceProblem, type LedgerClient } from "../../../client/ledger-client.ts";

/** Runs a write of a wallet; a 403 is thrown with the code of the ledger's state where that is why. */
export async function writeToWallet<Reply>(
  client: LedgerClient,
  ledgerId: string,
  write: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ServiceProblem) || error.status !== 403) throw error;
    const ledger = await client.getLedger(ledgerId).catch(() => null);
    if (ledger === null || ledger.status === "active") throw error;
    const code = ledger.status === "closed" ? "LEDGER_CLOSED" : "LEDGER_SUSPENDED";
    const { status, requestId, retryAfterSeconds, wasRepeated } = error;
    const problem = { ...error.problem, code } as const;
    throw new ServiceProblem({ status, problem, requestId, retryAfterSeconds, wasRepeated });
  }
}
