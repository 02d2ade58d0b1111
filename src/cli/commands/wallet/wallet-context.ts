// Running a command on one wallet of the service.
import { ServiceProblem, type Ledger, type WalletAddress } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { addressOf, requireWalletName } from "./wallet-arguments.ts";

export interface WalletContext extends ServiceContext {
  readonly wallet: WalletAddress;
}

/**
 * Runs with the wallet that KEY names. `forbidden`: why the service forbids it in an active ledger, where that can be one
 * thing only.
 */
export async function withWallet<Result>(
  key: string,
  flags: ServiceFlags,
  environment: Environment,
  run: (context: WalletContext) => Promise<Result>,
  forbidden: "INSUFFICIENT_SCOPE" | null = null,
): Promise<Result> {
  const name = requireWalletName(key);
  return withService(flags, environment, async (context) => {
    const wallet = addressOf(name, context.ledgerId);
    try {
      return await run({ ...context, wallet });
    } catch (error) {
      throw await namingReason(error, forbidden, () => context.client.getLedger(wallet.ledgerId));
    }
  });
}

/**
 * Why a write was forbidden: wallet errors carry no code, but exit codes tell a ledger that is suspended or closed (6)
 * from a key that may not (4). A 403 gets the code of the ledger's state where that is why, else `forbidden`.
 */
async function namingReason(
  error: unknown,
  forbidden: "INSUFFICIENT_SCOPE" | null,
  getLedger: () => Promise<Ledger>,
): Promise<unknown> {
  if (!(error instanceof ServiceProblem) || error.status !== 403) return error;
  const ledger = await getLedger().catch(() => null);
  const code = ledger === null ? null : (codeOfState[ledger.status] ?? forbidden);
  if (code === null) return error;
  const { status, requestId, retryAfterSeconds, wasRepeated } = error;
  const problem = { ...error.problem, code } as const;
  return new ServiceProblem({ status, problem, requestId, retryAfterSeconds, wasRepeated });
}

const codeOfState = {
  active: null,
  suspended: "LEDGER_SUSPENDED",
  closed: "LEDGER_CLOSED",
} as const;
