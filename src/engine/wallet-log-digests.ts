// Makes digests of what is in wallets' logs from before logs were chained: in the background after an upgrade, in
// pieces, by one server at a time. What is done stays done; afterwards there is nothing to do for ever.
import type { ChainHash } from "../core/wallet.ts";
import { chainEntry, chainStart } from "../core/wallet-chain.ts";
import {
  areLogsDigested,
  insertDigestCompletion,
  insertDigests,
  listOlderRows,
  listUndigestedLogs,
  tryLockDigests,
  type OlderLog,
} from "../store/wallet-log-digests.ts";
import { listLedgerIds } from "../store/ledgers.ts";
import type { Connection } from "../store/database/connection.ts";
import { readLedgerState } from "../store/ledger-states.ts";
import type { Pool } from "../store/database/pool.ts";
import { repeat } from "./repeat.ts";

export interface WalletLogDigestsOptions {
  /** Between two pieces, and before a failed one is tried again. */
  readonly pauseMs: number;
  readonly onFailure: (error: unknown) => void;
  readonly onSuccess?: () => void;
}

/** Wallets of a piece; its transaction holds no lock that others want. */
const walletsPerPiece = 500;
const rowsPerPage = 1_000;
const leastId = "00000000-0000-0000-0000-000000000000";

export class WalletLogDigests {
  readonly #pool: Pool;
  readonly #options: WalletLogDigestsOptions;
  #end: () => Promise<void> = async () => undefined;
  #isStopped = false;
  /** What is still to be looked at: ledgers, and of the first of them the wallets after one. No log gets older rows. */
  #place: { readonly ledgerIds: readonly string[]; readonly walletId: string } | null = null;

  constructor(pool: Pool, options: WalletLogDigestsOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  start(): void {
    if (!this.#isStopped) this.#end = repeat(this.#options.pauseMs, () => this.#tryPiece());
  }

  /** Waits for the piece under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
  }

  async #tryPiece(): Promise<boolean> {
    try {
      const isDone = await this.makePiece();
      this.#options.onSuccess?.();
      return isDone;
    } catch (error) {
      if (!this.#isStopped) this.#options.onFailure(error);
      return false;
    }
  }

  /** Makes the digests of some wallets, unless another server does. True when there is nothing left to do. */
  async makePiece(): Promise<boolean> {
    if (await areLogsDigested(this.#pool)) return true;
    this.#place ??= { ledgerIds: await listLedgerIds(this.#pool), walletId: leastId };
    const place = this.#place;
    const next = await this.#pool.transaction(async (transaction) => {
      if (!(await tryLockDigests(transaction))) return place;
      let { walletId } = place;
      for (const [index, ledgerId] of place.ledgerIds.entries()) {
        const last = await digestLogs(transaction, ledgerId, walletId);
        if (last !== null) return { ledgerIds: place.ledgerIds.slice(index), walletId: last };
        walletId = leastId;
      }
      await insertDigestCompletion(transaction);
      return null;
    });
    if (next !== null) this.#place = next;
    return next === null;
  }
}

/** Makes the digests of a ledger's next wallets that have none. Returns the last of them; null when there was none. */
async function digestLogs(
  transaction: Connection,
  ledgerId: string,
  afterWalletId: string,
): Promise<string | null> {
  const logs = await listUndigestedLogs(transaction, ledgerId, afterWalletId, walletsPerPiece);
  const [first, last] = [logs[0], logs.at(-1)];
  if (first === undefined || last === undefined) return null;
  const digests = new Map<string, ChainHash>(
    logs.map((log) => [log.walletId, chainStart({ ...log, ledgerId, chainedAfter: 0 })]),
  );
  const logsById = new Map<string, OlderLog>(logs.map((log) => [log.walletId, log]));
  let after = { walletId: first.walletId, seq: 0 };
  for (;;) {
    const rows = await listOlderRows(transaction, ledgerId, after, last.walletId, rowsPerPage);
    for (const row of rows) {
      const previous = digests.get(row.walletId);
      const olderThrough = logsById.get(row.walletId)?.olderThrough ?? 0;
      if (previous === undefined || row.seq > olderThrough) continue;
      digests.set(row.walletId, chainEntry(previous, row, row));
    }
    const end = rows.at(-1);
    if (end === undefined) break;
    after = { walletId: end.walletId, seq: end.seq };
  }
  const made = [...digests].map(([walletId, digest]) => ({ walletId, digest }));
  // Their rows take the ledger's id from there.
  await readLedgerState(transaction, ledgerId);
  await insertDigests(transaction, ledgerId, made);
  return last.walletId;
}
