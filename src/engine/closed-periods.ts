// Which periods of a ledger are closed, as it stands under the lock of the journal's head. Closes are never taken back,
// so those that were read once are kept, and only the last of them and newer ones are asked for.
import { ClosedCalendar, type ClosedPeriod } from "../core/period.ts";
import { listClosedPeriods } from "../store/period-closes.ts";
import type { Connection } from "../store/database/connection.ts";

const noneRead = { periods: [], calendar: new ClosedCalendar([]) };

export class ClosedPeriods {
  readonly #read = new Map<
    string,
    { periods: readonly ClosedPeriod[]; calendar: ClosedCalendar }
  >();

  /** Send it behind the statement that locks the head: it is read once that lock is held. */
  async read(connection: Connection, ledgerId: string): Promise<ClosedCalendar> {
    const before = this.#read.get(ledgerId) ?? noneRead;
    const last: ClosedPeriod | undefined = before.periods.at(-1);
    const found = await listClosedPeriods(connection, ledgerId, before.periods.length);
    if (last === undefined) return this.#keep(ledgerId, found);
    const [lastNow, ...newer] = found;
    if (lastNow?.closeId === last.closeId) {
      return newer.length === 0
        ? before.calendar
        : this.#keep(ledgerId, [...before.periods, ...newer]);
    }
    // A close that no standby had yet was read, and a standby has taken over since.
    this.#read.delete(ledgerId);
    return this.#keep(ledgerId, await listClosedPeriods(connection, ledgerId, 0));
  }

  #keep(ledgerId: string, periods: readonly ClosedPeriod[]): ClosedCalendar {
    if (periods.length === 0) return noneRead.calendar;
    const calendar = new ClosedCalendar(periods);
    // Somebody else may have read more meanwhile, under a later lock.
    const kept = this.#read.get(ledgerId)?.periods.length ?? 0;
    if (periods.length >= kept) this.#read.set(ledgerId, { periods, calendar });
    return calendar;
  }
}
