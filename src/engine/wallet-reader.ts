// Reading balances of wallets: reads that arrive together share one query.
import { setImmediate as immediate } from "node:timers/promises";
import { listWalletFigures, type WalletFigures } from "../store/wallets.ts";
import type { Pool } from "../store/database/pool.ts";

/** The query of those who ask in one tick, with the keys that it asks for so far. */
interface NextQuery {
  readonly callerKeys: Set<string>;
  /** By callerKey, of the wallets that exist. */
  readonly figures: Promise<ReadonlyMap<string, WalletFigures>>;
}

/** Gathers who asks within one tick of the event loop. */
export class WalletReader {
  readonly #pool: Pool;
  /** By ledger. */
  readonly #next = new Map<string, NextQuery>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The figures of a wallet as of after this call; null for one that was never written. */
  async getFigures(ledgerId: string, callerKey: string): Promise<WalletFigures | null> {
    let next = this.#next.get(ledgerId);
    if (next === undefined) {
      const callerKeys = new Set<string>();
      next = { callerKeys, figures: this.#read(ledgerId, callerKeys) };
      this.#next.set(ledgerId, next);
    }
    next.callerKeys.add(callerKey);
    return (await next.figures).get(callerKey) ?? null;
  }

  async #read(ledgerId: string, callerKeys: ReadonlySet<string>) {
    await immediate();
    this.#next.delete(ledgerId);
    const rows = await listWalletFigures(this.#pool, ledgerId, [...callerKeys]);
    return new Map(rows.map((row) => [row.callerKey, row]));
  }
}
