// Running a command on one wallet of the service.
import {
  ServiceProblem,
  type LedgerClient,
  type WalletAddress,
} from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { addressOf, requireWalletName } from "./wallet-arguments.ts";

export interface WalletContext extends ServiceContext {
  readonly wallet: WalletAddress;
}

/** Runs with the wallet that KEY names. */
export async function withWallet<Result>(
  key: string,
  flags: ServiceFlags,
  environment: Environment,
  run: (context: WalletContext) => Promise<Result>,
): Promise<Result> {
  const name = requireWalletName(key);
  return withService(flags, environment, async (context) => {
    const wallet = addressOf(name, context.ledgerId);
    try {
      return await run({ ...context, wallet });
    } catch (error) {
      throw await namingState(error, context.client, wallet.ledgerId);
    }
  });
}

/**
 * Why a write was forbidden: wallet errors carry no code, but exit codes tell a ledger that is suspended or closed (6)
 * from a key that may not (4). A 403 gets the code of the ledger's state where that is why.
 */
async function namingState(
  error: unknown,
  client: LedgerClient,
  ledgerId: string,
): Promise<unknown> {
  if (!(error instanceof ServiceProblem) || error.status !== 403) return error;
  const ledger = await client.getLedger(ledgerId).catch(() => null);
  if (ledger === null || ledger.status === "active") return error;
  const code = ledger.status === "closed" ? "LEDGER_CLOSED" : "LEDGER_SUSPENDED";
  const { status, requestId, retryAfterSeconds, wasRepeated } = error;
  const problem = { ...error.problem, code } as const;
  return new ServiceProblem({ status, problem, requestId, retryAfterSeconds, wasRepeated });
}
