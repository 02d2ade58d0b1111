// The scenario of a seed: all entries, wallet writes, postings and closes of its ledger, in order. Pure: the rules
// in core decide, with a clock and ids that come from the seed.
import { entryLeaf } from "../core/canonical.ts";
import type { AssetRule } from "../core/asset.ts";
import {
  balancesRootOf,
  closeHashOf,
  CloseTree,
  merkleAlgorithm,
  TrialBalance,
  type BalanceRow,
  type CloseRecord,
  type Subtree,
} from "../core/close.ts";
import { assert } from "../core/errors.ts";
import { decideJournalBatch } from "../core/journal-batch.ts";
import { findAmountFaults, type Entry } from "../core/journal.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import { ClosedCalendar } from "../core/period.ts";
import {
  planPostings,
  postingEntry,
  type PendingPosting,
  type Posting,
  type PostingTotal,
} from "../core/posting.ts";
import { laterOf, type Timestamp } from "../core/time.ts";
import type { WalletBatch } from "../core/wallet-batch.ts";
import type { NewPendingPosting } from "../core/wallet-pending.ts";
import type { Hold, Wallet } from "../core/wallet.ts";
import { SeedBusiness, timestampOf } from "./seed-business.ts";
import { functionalCurrency, seedChart, walletAssets } from "./seed-chart.ts";
import {
  scheduleOf,
  type EntrySlot,
  type SeedPeriod,
  type SeedSettings,
  type Slot,
} from "./seed-schedule.ts";
import { SeededRandom } from "./seeded-random.ts";
import { seedLimits } from "./seed-transfers.ts";
import { SeedWallets } from "./seed-wallets.ts";

export type SeedEvent =
  | { readonly kind: "entry"; readonly entry: Entry }
  | { readonly kind: "walletBatch"; readonly batch: WalletBatch }
  | { readonly kind: "rules"; readonly rules: readonly AssetRule[]; readonly at: Timestamp }
  /** Its entry comes before it, as an event of its own. */
  | { readonly kind: "posting"; readonly posting: Posting; readonly journalId: string }
  | {
      readonly kind: "close";
      readonly record: CloseRecord;
      readonly balances: readonly BalanceRow[];
      readonly subtrees: readonly Subtree[];
    };

/** The ledger is created at this time, whatever periods it has: ids depend on the seed alone. */
const madeAt = Date.parse("2026-01-01T06:00:00.000Z");
/** Before the end of the last period: later than any write of wallets. */
const lastEveningMs = 2 * 3_600_000;
/** How long after a period's end it is closed. The next period's first entry is made at 08:00 at the earliest. */
const closesAfterMs = 6 * 3_600_000;

export class SeedScenario {
  readonly ledger: LedgerIdentity;
  readonly createdAt: Timestamp = timestampOf(madeAt);
  readonly #settings: SeedSettings;
  readonly #random: SeededRandom;
  readonly #business: SeedBusiness;
  readonly #wallets: SeedWallets;
  readonly #accounts = new Map(
    seedChart.map(({ glAccountCode }) => [glAccountCode, { active: true }]),
  );
  readonly #totals = new Map<string, PostingTotal>();
  #lastSequence = 0;
  #lastPersistedAt: Timestamp | null = null;
  #lastClose: CloseRecord | null = null;

  constructor(settings: SeedSettings) {
    this.#settings = settings;
    const ids = new SeededRandom(`ledgerctl/seed/books/${settings.seed}`);
    const organizationId = ids.id(madeAt);
    this.ledger = { organizationId, ledgerId: ids.id(madeAt), functionalCurrency };
    // The text decides every number that follows: it stays as it is.
    this.#random = new SeededRandom(`ledgerctl/seed/story/${settings.seed}`);
    this.#business = new SeedBusiness(this.#random);
    this.#wallets = new SeedWallets(this.#random, this.ledger, walletAssets);
  }

  /** The journal's head: its last sequence, and the time of that entry. */
  head(): { readonly sequence: number; readonly persistedAt: Timestamp } | null {
    return this.#lastPersistedAt === null
      ? null
      : { sequence: this.#lastSequence, persistedAt: this.#lastPersistedAt };
  }

  /** Wallets and holds as they are now. */
  walletStates(): { readonly wallets: readonly Wallet[]; readonly holds: readonly Hold[] } {
    return { wallets: this.#wallets.wallets(), holds: this.#wallets.holds() };
  }

  *events(): Generator<SeedEvent> {
    let openings: readonly BalanceRow[] = [];
    for (const { period, slots } of scheduleOf(this.#settings, walletAssets.length)) {
      const tree = new CloseTree();
      const balances = new TrialBalance(openings);
      this.#business.beginPeriod(Date.parse(period.startsAt));
      for (const slot of slots) {
        for (const event of this.#eventsOf(slot)) {
          if (event.kind === "entry") {
            tree.append(event.entry.sequence, entryLeaf(event.entry));
            balances.addEntry(event.entry.lines);
          }
          yield event;
        }
      }
      const rows = balances.rows();
      const record = this.#close(period, tree, rows);
      yield { kind: "close", record, balances: rows, subtrees: tree.subtrees() };
      openings = rows.map(asOpening);
    }
    yield* this.#lastEvening();
  }

  /** What only wallets tell of: no entry, and so no root, depends on it. */
  *#lastEvening(): Generator<SeedEvent> {
    const { seed, limits, periods } = this.#settings;
    const atMs = Date.parse(periods.at(-1)?.endsAt ?? this.createdAt) - lastEveningMs;
    const random = new SeededRandom(`ledgerctl/seed/transfers/${seed}`);
    for (const batch of this.#wallets.lastEvening(this.#settings, random, atMs)) {
      yield { kind: "walletBatch", batch };
    }
    if (!limits) return;
    const rules = walletAssets.map((rule) => ({ ...rule, version: 2, ...seedLimits }));
    yield { kind: "rules", rules, at: timestampOf(atMs + lastEveningMs) };
  }

  *#eventsOf(slot: Slot): Generator<SeedEvent> {
    if (slot.kind !== "wallets") {
      yield { kind: "entry", entry: this.#write(slot) };
      return;
    }
    const pending: NewPendingPosting[] = [];
    for (const batch of this.#wallets.evening(slot)) {
      pending.push(...batch.pendingPostings);
      yield { kind: "walletBatch", batch };
    }
    yield* this.#post(pending, slot.atMs);
  }

  #write(slot: EntrySlot): Entry {
    const { write, original, made } = this.#business.next(slot);
    if (write.kind === "entry") {
      const [fault] = findAmountFaults(write.draft.lines);
      if (fault !== undefined) throw new Error(`a seed's entry is sound: ${fault.detail}`);
    }
    const bookedMs = slot.atMs + this.#random.between(1_000, 240_000);
    const stored = original === null ? null : { ...original, reversedByJournalId: null };
    const [decision] = decideJournalBatch(
      {
        ledger: this.ledger,
        status: "active",
        lastSequence: this.#lastSequence,
        lastPersistedAt: this.#lastPersistedAt,
        now: timestampOf(bookedMs),
        accounts: this.#accounts,
        idempotencyKeys: new Map(),
        originals: new Map(stored === null ? [] : [[stored.journalId, stored]]),
        walletPostings: new Set(),
        closed: nothingClosed,
      },
      [write],
      () => this.#random.id(bookedMs),
    );
    if (decision === undefined || "refusal" in decision) {
      throw new Error("a seed's entry is accepted", { cause: decision?.refusal });
    }
    const [entry] = decision.entries;
    assert(entry !== undefined, "one write of a seed makes one entry");
    made(entry);
    return this.#recorded(entry);
  }

  *#post(made: readonly NewPendingPosting[], atMs: number): Generator<SeedEvent> {
    const pending = made.map(({ spans, ...rest }): PendingPosting => ({
      ...rest,
      walletIds: spans.map(({ walletId }) => walletId),
    }));
    const postings = planPostings({
      ledger: this.ledger,
      pending,
      rules: walletAssets,
      totals: [...this.#totals.values()],
      closed: nothingClosed,
    });
    for (const posting of postings) {
      for (const total of posting.totals) {
        this.#totals.set(`${total.assetCode} ${total.side}`, total);
      }
      const identity = {
        journalId: this.#random.id(atMs),
        sequence: this.#lastSequence + 1,
        persistedAt: this.#notBackwards(timestampOf(atMs)),
      };
      const entry = this.#recorded(postingEntry(posting, this.ledger, identity));
      yield { kind: "entry", entry };
      yield { kind: "posting", posting, journalId: entry.journalId };
    }
  }

  #close(
    { periodId, startsAt, endsAt }: SeedPeriod,
    tree: CloseTree,
    rows: readonly BalanceRow[],
  ): CloseRecord {
    const closedMs = Date.parse(endsAt) + closesAfterMs;
    const unsigned = {
      ledgerId: this.ledger.ledgerId,
      closeId: this.#random.id(closedMs),
      number: (this.#lastClose?.number ?? 0) + 1,
      ...{ periodId, startsAt, endsAt },
      reason: `Close of ${periodId}`,
      closedAt: timestampOf(closedMs),
      lastSequence: this.#lastSequence,
      entryCount: tree.size,
      merkleRoot: tree.root().toString("hex"),
      merkleAlgorithm,
      balancesRoot: balancesRootOf(rows).toString("hex"),
      previousCloseHash: this.#lastClose?.closeHash ?? null,
    };
    this.#lastClose = { ...unsigned, closeHash: closeHashOf(unsigned).toString("hex") };
    // What is posted from now on is persisted later than the close.
    this.#lastPersistedAt = timestampOf(closedMs + 1);
    return this.#lastClose;
  }

  #recorded(entry: Entry): Entry {
    this.#lastSequence = entry.sequence;
    this.#lastPersistedAt = entry.persistedAt;
    return entry;
  }

  #notBackwards(moment: Timestamp): Timestamp {
    return this.#lastPersistedAt === null ? moment : laterOf(moment, this.#lastPersistedAt);
  }
}

/** Every entry of the scenario is dated after the last close, so no decision has to look at closes. */
const nothingClosed = new ClosedCalendar([]);

function asOpening({ glAccountCode, closing }: BalanceRow): BalanceRow {
  return { glAccountCode, opening: closing, debits: 0n, credits: 0n, closing, entryCount: 0 };
}
