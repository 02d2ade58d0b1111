// Reading balances of wallets: reads that arrive together share one query.
import { listWalletFigures, type WalletFigures } from "../store/wallets.ts";
import type { Pool } from "../store/database/pool.ts";

interface Waiting {
  readonly resolve: (figures: WalletFigures | null) => void;
  readonly reject: (error: unknown) => void;
}

const keysMax = 500;

/** Gathers who asks within one tick of the event loop. */
export class WalletReader {
  readonly #pool: Pool;
  /** By ledger, then by callerKey: who waits for the next query. */
  readonly #waiting = new Map<string, Map<string, Waiting[]>>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The figures of a wallet as of after this call; null for one that was never written. */
  getFigures(ledgerId: string, callerKey: string): Promise<WalletFigures | null> {
    return new Promise((resolve, reject) => {
      const gathered = this.#waiting.get(ledgerId);
      const keys = gathered ?? new Map<string, Waiting[]>();
      if (gathered === undefined) {
        this.#waiting.set(ledgerId, keys);
        setImmediate(() => {
          this.#waiting.delete(ledgerId);
          void this.#readAll(ledgerId, keys);
        });
      }
      const waiting = keys.get(callerKey) ?? [];
      waiting.push({ resolve, reject });
      keys.set(callerKey, waiting);
    });
  }

  async #readAll(ledgerId: string, keys: ReadonlyMap<string, Waiting[]>): Promise<void> {
    const all = [...keys.keys()];
    for (let from = 0; from < all.length; from += keysMax) {
      const some = all.slice(from, from + keysMax);
      const waiting = some.map((key) => ({ key, callers: keys.get(key) ?? [] }));
      try {
        const rows = await listWalletFigures(this.#pool, ledgerId, some);
        const byKey = new Map(rows.map((row) => [row.callerKey, row]));
        for (const { key, callers } of waiting) {
          for (const { resolve } of callers) resolve(byKey.get(key) ?? null);
        }
      } catch (error) {
        for (const { callers } of waiting) for (const { reject } of callers) reject(error);
      }
    }
  }
}
