// Which periods of a ledger are closed, as it stands under the lock of the journal's head. Closes are
// never taken back, so those that were read once are kept and only newer ones are asked for.
import { ClosedCalendar, type ClosedPeriod } from "../core/period.ts";
import { listClosedPeriods } from "../store/period-closes.ts";
import type { Connection } from "../store/database/connection.ts";

export class ClosedPeriods {
  readonly #known = new Map<string, readonly ClosedPeriod[]>();
  readonly #calendars = new Map<string, ClosedCalendar>();

  /** Send it behind the statement that locks the head: it is read once that lock is held. */
  async read(connection: Connection, ledgerId: string): Promise<ClosedCalendar> {
    const known = this.#known.get(ledgerId) ?? [];
    const newer = await listClosedPeriods(connection, ledgerId, known.length);
    const calendar = this.#calendars.get(ledgerId);
    // Somebody else may have read more meanwhile, but then holds a later lock.
    if (newer.length === 0 && calendar !== undefined) return calendar;
    const periods = [...known, ...newer];
    const current = new ClosedCalendar(periods);
    if (periods.length >= (this.#known.get(ledgerId)?.length ?? 0)) {
      this.#known.set(ledgerId, periods);
      this.#calendars.set(ledgerId, current);
    }
    return current;
  }
}
