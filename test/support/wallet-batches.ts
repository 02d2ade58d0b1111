// Writes of wallets that are decided in one batch, for what depends on that.
import type { Refusal } from "../../src/core/errors.ts";
import type { WalletReply, WalletWrite } from "../../src/core/wallet.ts";
import { Wallets } from "../../src/engine/wallets.ts";
import { Pool } from "../../src/store/database/pool.ts";
import type { TestBooks } from "./service.ts";

export const laneLimits = {
  batchItemsMax: 500,
  batchBytesMax: 1e6,
  queueItemsMax: 1e3,
  queueBytesMax: 1e6,
  laneItemsMax: 1e3,
  laneBytesMax: 1e6,
  laneWaitMsMax: 5_000,
  largeBatchItems: 200,
  deadlineMs: 5_000,
  nowMs: () => performance.now(),
  onFailure: () => undefined,
};

export function credit(callerKey: string, amount: bigint, assetCode = "USD"): WalletWrite {
  return { type: "credit", callerKey, amount, assetCode, externalId: null, metadata: null };
}

/** Makes writes of one ledger in one batch: behind a credit that is under way, they wait in its lane. */
export async function writeTogether(
  { databaseUrl, organizationId }: TestBooks,
  ledgerId: string,
  writes: readonly WalletWrite[],
): Promise<readonly (WalletReply | Refusal)[]> {
  const connections = new Pool({
    databaseUrl,
    connectionsMax: 2,
    lockTimeoutMs: 10_000,
    answerTimeoutMs: 20_000,
  });
  const wallets = new Wallets(connections, laneLimits, () => undefined);
  const ledger = { ledgerId, organizationId, functionalCurrency: "USD" };
  const write = (one: WalletWrite) => wallets.write(ledger, one, 100);
  const first = write(credit("under way", 1n));
  const settled = await Promise.all(
    writes.map((one) => write(one).catch((error: unknown) => error as Refusal)),
  );
  await first;
  await connections.end();
  return settled;
}
