// The audit of a ledger's tables of sums: some are compared beside the entries, the others by the database.
import {
  countSums,
  listMonthFaults,
  listSumFaults,
  listSumsBeyond,
  readSumReach,
  sumTableNames,
  type SumReach,
  type SumTableName,
} from "../store/audit/day-sums.ts";
import type { FoundRow } from "../store/audit/journal.ts";
import type { Connection } from "../store/database/connection.ts";
import type { CheckLog } from "./audit-log.ts";
import type { EntryCheck } from "./entry-checks.ts";
import { accountDayCheck, registerDayCheck, type SumCheck } from "./sum-checks.ts";

/** The database compares these while entries are read. */
const besideEntries = ["journal_days", "account_spans", "day_spans", "register_spans"] as const;

export class SumAudit {
  readonly #connection: Connection;
  readonly #ledgerId: string;
  readonly #reach: SumReach;
  readonly #accountDays: SumCheck;
  readonly #registerDays: SumCheck;
  readonly #found = new Map<SumTableName, readonly FoundRow[]>();

  private constructor(connection: Connection, ledgerId: string, reach: SumReach) {
    this.#connection = connection;
    this.#ledgerId = ledgerId;
    this.#reach = reach;
    this.#accountDays = accountDayCheck(connection, ledgerId, reach);
    this.#registerDays = registerDayCheck(connection, ledgerId, reach);
  }

  static async begin(connection: Connection, ledgerId: string): Promise<SumAudit> {
    return new SumAudit(connection, ledgerId, await readSumReach(connection, ledgerId));
  }

  /** What all entries have to be given to. */
  get entryChecks(): readonly EntryCheck[] {
    return [this.#accountDays, this.#registerDays];
  }

  /** Lets the database compare what needs no entries of ours. */
  async compareBeside(connection: Connection): Promise<void> {
    for (const name of besideEntries) {
      this.#found.set(name, await listSumFaults(connection, this.#ledgerId, name));
    }
  }

  /** Compares the rest, when both are done, and tells what was found, in the order of tables. */
  async finish(log: CheckLog): Promise<void> {
    const [connection, ledgerId] = [this.#connection, this.#ledgerId];
    const listAnew = (name: SumTableName) => listSumFaults(connection, ledgerId, name);
    if (this.#accountDays.isDifferent) {
      this.#found.set("account_days", await listAnew("account_days"));
    }
    if (this.#registerDays.isDifferent) {
      this.#found.set("register_days", await listAnew("register_days"));
    }
    const areDaysSound =
      !this.#accountDays.isDifferent && this.#found.get("journal_days")?.length === 0;
    const months =
      areDaysSound && this.#reach.areMonthsSummed
        ? await listMonthFaults(connection, ledgerId)
        : await listAnew("journal_months");
    this.#found.set("journal_months", months);
    log.looked(await countSums(connection, ledgerId));
    log.findAll(await listSumsBeyond(connection, ledgerId));
    for (const name of sumTableNames) log.findAll(this.#found.get(name) ?? []);
  }
}
