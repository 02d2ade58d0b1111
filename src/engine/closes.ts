// Closing periods. What was posted long ago is hashed and summed before the ledger's lock is taken: the
// journal only grows. Under the lock there is only what came meanwhile, and the record.
import { setTimeout as sleep } from "node:timers/promises";
import { balancesRootOf, closeHashOf, merkleAlgorithm, type CloseRecord } from "../core/close.ts";
import { assert, Refusal, validationRefusal } from "../core/errors.ts";
import type { LedgerStatus } from "../core/ledger.ts";
import {
  readPeriodLabel,
  type ClosedCalendar,
  type CloseRequest,
  type Period,
} from "../core/period.ts";
import { addMs, laterOf, type Timestamp } from "../core/time.ts";
import {
  advanceJournalHead,
  lockJournalHead,
  readClock,
  readJournalHead,
} from "../store/journal-heads.ts";
import { countEntriesByMonth } from "../store/journal-spans.ts";
import { lockLedgerStateShared, readLedgerState } from "../store/ledger-states.ts";
import { hasClosesInOrder } from "../store/ledgers.ts";
import { findCloseOfPeriod, findLastClose, insertClose } from "../store/period-closes.ts";
import { AmbiguousCommit, isTransient } from "../store/database/errors.ts";
import type { Connection } from "../store/database/connection.ts";
import type { PipelinedConnection, Transaction } from "../store/database/pipeline.ts";
import type { Pool } from "../store/database/pool.ts";
import type { ClosedPeriods } from "./closed-periods.ts";
import { commitsHalted } from "./group-commit.ts";
import { newId } from "./new-id.ts";
import { postPending } from "./posting.ts";
import { beginClose, bringUpTo, extend, type PreparedClose } from "./prepared-close.ts";

/** How long a close is tried again after its first failure: a lock not had, a database that is away. */
const deadlineMs = 30_000;
const retryMs = 100;
/** How long the answer to a COMMIT is waited for. */
const commitTimeoutMs = 10_000;
/** Months that a refusal names. */
const monthsNamed = 12;

export interface ClosesOptions {
  /** Whether COMMITs wait for a standby without end, so that none may be added; unless given, never. */
  readonly areCommitsHalted?: () => boolean;
  /** Called once a period is closed, or was closed before. */
  readonly onClose?: (ledgerId: string) => void;
  /** Called where the close of a period leaves an earlier close aside, because somebody has changed it. */
  readonly onChangedClose?: (ledgerId: string, periodId: string) => void;
}

export class Closes {
  readonly #pool: Pool;
  readonly #closedPeriods: ClosedPeriods;
  readonly #options: ClosesOptions;
  #isStopped = false;

  /** `pool` must let a statement take minutes: sums over years are read through it. */
  constructor(pool: Pool, closedPeriods: ClosedPeriods, options: ClosesOptions = {}) {
    this.#pool = pool;
    this.#closedPeriods = closedPeriods;
    this.#options = options;
  }

  /**
   * Closes a period, or gives the close that it has; its label was checked. Rejects with a Refusal:
   * `validation` for bounds in the wrong order; `ledgerClosed`; `periodOutOfOrder`; `unavailable`; `outcomeUnknown`.
   */
  async closePeriod(ledgerId: string, request: CloseRequest): Promise<CloseRecord> {
    if (this.#options.areCommitsHalted?.() === true) throw commitsHalted;
    let isUnknown = false;
    let failingSinceMs: number | null = null;
    for (;;) {
      try {
        const close = await this.#closeOnce(ledgerId, request);
        this.#options.onClose?.(ledgerId);
        return close;
      } catch (error) {
        // Whether it was stored is seen by trying again: the same close is found under the lock.
        isUnknown ||= error instanceof AmbiguousCommit;
        if (!(error instanceof AmbiguousCommit) && !isTransient(error)) throw error;
        failingSinceMs ??= performance.now();
        const isLate = performance.now() - failingSinceMs > deadlineMs;
        if (isLate || this.#isStopped) throw this.#timedOut(isUnknown, error);
        await sleep(retryMs);
      }
    }
  }

  /** Closes that fail from now on are not tried again. Each is stored whole or not at all. */
  stop(): void {
    this.#isStopped = true;
  }

  #timedOut(isUnknown: boolean, cause: unknown): Refusal {
    if (isUnknown) {
      const detail = "whether the period was closed could not be learned";
      return new Refusal("outcomeUnknown", detail, { cause });
    }
    if (this.#isStopped) {
      return new Refusal("unavailable", "the server is stopping, and the period was not closed");
    }
    return new Refusal("unavailable", "the ledger could not be locked in time", { cause });
  }

  async #closeOnce(ledgerId: string, request: CloseRequest): Promise<CloseRecord> {
    const { periodId } = request;
    return this.#pool.withConnection(async (connection) => {
      const stored = await findCloseOfPeriod(connection, ledgerId, periodId);
      const prepared = stored === null ? await this.#prepare(connection, ledgerId, request) : null;
      return connection.withTransaction(async (transaction) => {
        const record = await this.#closeLocked(transaction, ledgerId, request, prepared);
        // Also where the close was stored before: the locks write to the log, so that COMMIT waits for the standbys.
        await commitInTime(connection, transaction);
        return record;
      });
    });
  }

  /** Hashes and sums what the journal holds by now, as if the close were made this moment. */
  async #prepare(
    connection: Connection,
    ledgerId: string,
    request: CloseRequest,
  ): Promise<PreparedClose> {
    const [status, head, now, calendar] = await Promise.all([
      readLedgerState(connection, ledgerId),
      readJournalHead(connection, ledgerId),
      readClock(connection),
      this.#closedPeriods.read(connection, ledgerId),
    ]);
    requireNotClosed(status);
    const period = periodOf(request, calendar, now);
    await requireOrder(connection, ledgerId, { period, calendar, upTo: head.lastSequence });
    const prepared = beginClose(period);
    await extend(connection, ledgerId, prepared, head.lastSequence);
    return prepared;
  }

  /** Gives the close that the period has, or records one. To be committed, whichever it was. */
  async #closeLocked(
    transaction: Transaction,
    ledgerId: string,
    request: CloseRequest,
    prepared: PreparedClose | null,
  ): Promise<CloseRecord> {
    const [status, , stored] = await Promise.all([
      lockLedgerStateShared(transaction, ledgerId),
      lockJournalHead(transaction, ledgerId),
      findCloseOfPeriod(transaction, ledgerId, request.periodId),
    ]);
    if (stored !== null) return stored;
    requireNotClosed(status);
    await postPending(transaction, ledgerId, this.#closedPeriods);
    const [head, now, previous, calendar] = await Promise.all([
      lockJournalHead(transaction, ledgerId),
      readClock(transaction),
      findLastClose(transaction, ledgerId),
      this.#closedPeriods.read(transaction, ledgerId),
    ]);
    const closedAt = closingTime(now, head.lastPersistedAt, calendar);
    const period = periodOf(request, calendar, closedAt);
    await requireOrder(transaction, ledgerId, { period, calendar, upTo: head.lastSequence });
    const current = await bringUpTo(transaction, ledgerId, prepared, period, head.lastSequence);
    if (current.leavesCloseAside) this.#options.onChangedClose?.(ledgerId, request.periodId);
    const rows = current.balances.rows();
    // In the order in which the record is read back.
    const unsigned = {
      ledgerId,
      closeId: newId(),
      number: (previous?.number ?? 0) + 1,
      periodId: request.periodId,
      reason: request.reason,
      ...period,
      closedAt,
      lastSequence: head.lastSequence,
      entryCount: current.tree.size,
      merkleRoot: current.tree.root().toString("hex"),
      merkleAlgorithm,
      balancesRoot: balancesRootOf(rows).toString("hex"),
      previousCloseHash: previous?.closeHash ?? null,
    };
    const record = { ...unsigned, closeHash: closeHashOf(unsigned).toString("hex") };
    await Promise.all([
      ...insertClose(transaction, record, rows, current.tree.subtrees()),
      // What is posted from now on is persisted later than the close.
      advanceJournalHead(transaction, ledgerId, {
        sequence: head.lastSequence,
        persistedAt: addMs(closedAt, 1),
      }),
    ]);
    return record;
  }
}

/** COMMIT, which a statement's minutes are too long for: a standby that is away must not keep its caller waiting. */
async function commitInTime(
  connection: PipelinedConnection,
  transaction: Transaction,
): Promise<void> {
  const timer = setTimeout(() => {
    connection.cut();
  }, commitTimeoutMs);
  try {
    await transaction.commit([]);
  } finally {
    clearTimeout(timer);
  }
}

/** Comes before whatever else a close is refused for; a suspended ledger takes closes. */
function requireNotClosed(status: LedgerStatus): void {
  if (status === "closed") throw new Refusal("ledgerClosed", "the ledger is permanently closed");
}

/** Where a ledger's closes come in order, refuses one that leaves entries behind it that no close covers. */
async function requireOrder(
  connection: Connection,
  ledgerId: string,
  { period, calendar, upTo }: { period: Period; calendar: ClosedCalendar; upTo: number },
): Promise<void> {
  const { startsAt } = period;
  if (startsAt === null || !(await hasClosesInOrder(connection, ledgerId))) return;
  const open = calendar.openBefore(startsAt);
  const months = await countEntriesByMonth(connection, ledgerId, open, {
    afterSequence: 0,
    upToSequence: upTo,
  });
  if (months.length === 0) return;
  const named = months
    .slice(0, monthsNamed)
    .map(({ month, entryCount }) => `${month} (${entryCount})`);
  const rest = months.length > monthsNamed ? ` and ${months.length - monthsNamed} more months` : "";
  throw new Refusal(
    "periodOutOfOrder",
    `closes of this ledger come in order, and entries before the period are in no closed one: ${named.join(", ")}${rest}`,
  );
}

/** The bounds of a close that is made at a moment. */
export function periodOf(
  request: CloseRequest,
  calendar: ClosedCalendar,
  closedAt: Timestamp,
): Period {
  const meaning = readPeriodLabel(request.periodId);
  assert(!(typeof meaning === "object" && "fault" in meaning), "labels were checked");
  const own =
    meaning === "toDate" ? { startsAt: calendar.lastEndUpTo(closedAt), endsAt: closedAt } : meaning;
  const period = {
    startsAt: request.startsAt ?? own.startsAt,
    endsAt: request.endsAt ?? own.endsAt,
  };
  if (period.startsAt !== null && period.startsAt >= period.endsAt) {
    const path = [request.endsAt === null ? "startsAt" : "endsAt"];
    const detail = `the period would begin at ${period.startsAt} and end at ${period.endsAt}`;
    throw validationRefusal([{ path, detail }]);
  }
  return period;
}

/** Now, or the first moment that is later than all that was persisted. */
export function momentAfter(now: Timestamp, lastPersistedAt: Timestamp | null): Timestamp {
  return lastPersistedAt === null ? now : laterOf(now, addMs(lastPersistedAt, 1));
}

/** A moment later than all that was persisted, at which no closed period ends. */
export function closingTime(
  now: Timestamp,
  lastPersistedAt: Timestamp | null,
  calendar: ClosedCalendar,
): Timestamp {
  let closedAt = momentAfter(now, lastPersistedAt);
  while (calendar.lastEndUpTo(closedAt) === closedAt) closedAt = addMs(closedAt, 1);
  return closedAt;
}
