// Writes a seed's scenario into the database in one transaction: all of it or nothing.
import type { CloseRecord } from "../core/close.ts";
import { balanceChanges, type Entry } from "../core/journal.ts";
import { defaultScopes } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import { addToBalances } from "../store/account-balances.ts";
import { upsertAccounts } from "../store/accounts.ts";
import { insertAssetRules } from "../store/asset-rules.ts";
import { addSpan, insertSummedJournal } from "../store/day-sums.ts";
import { insertEntries, insertLines, insertReversals } from "../store/journal-entries.ts";
import { advanceJournalHead } from "../store/journal-heads.ts";
import { writeBarrier } from "../store/ledger-states.ts";
import { insertLedger } from "../store/ledgers.ts";
import { insertOrganization } from "../store/organizations.ts";
import { insertPendingPostings, markPosted } from "../store/pending-postings.ts";
import { insertClose } from "../store/period-closes.ts";
import { addRegisterSpan } from "../store/register-days.ts";
import { upsertHolds } from "../store/wallet-holds.ts";
import { insertWalletPostings, upsertPostingTotals } from "../store/wallet-postings.ts";
import { insertWalletWrites } from "../store/wallet-writes.ts";
import { insertWallets, updateControlledWallets } from "../store/wallets.ts";
import { KeyConflict, withKeyConflict } from "../store/database/errors.ts";
import type { Connection } from "../store/database/connection.ts";
import type { Pool } from "../store/database/pool.ts";
import { createApiKey } from "../engine/administration.ts";
import { entriesPerSpan } from "../engine/day-sums.ts";
import { seedChart, walletAssets } from "./seed-chart.ts";
import type { SeedSettings } from "./seed-schedule.ts";
import { SeedScenario, type SeedEvent } from "./seed-scenario.ts";

/** Entries of one statement: some hundred milliseconds of work. */
const entriesPerWrite = 1_000;
/** Wallets, or holds, of one statement. */
const rowsPerWrite = 10_000;
/** How many statements may be under way at once. */
const underWayMax = 8;

export type SeedOutcome =
  | {
      readonly outcome: "done";
      readonly organizationId: string;
      readonly ledgerId: string;
      readonly apiKey: string;
      readonly apiSecret: string;
      readonly entries: number;
      readonly closes: readonly CloseRecord[];
    }
  /** The database already has the ledger of this seed. */
  | { readonly outcome: "seededBefore"; readonly organizationId: string };

/**
 * Makes an organization, a ledger with its chart, a key, and all that happens in the seed's periods, in one
 * transaction. Ids, times and roots depend on the settings alone; the key and its secret are random.
 * `onProgress` gets the number of entries written so far.
 */
export async function seedBooks(
  pool: Pool,
  settings: SeedSettings,
  key: { readonly masterKey: Buffer; readonly createdAt: Timestamp },
  onProgress: (entries: number) => void,
): Promise<SeedOutcome> {
  const scenario = new SeedScenario(settings);
  const { organizationId, ledgerId } = scenario.ledger;
  try {
    return await pool.transaction(async (transaction) => {
      const apiKey = await insertLedgerWithChart(transaction, scenario, key);
      const recorder = new Recorder(transaction, ledgerId, onProgress);
      for (const event of scenario.events()) await recorder.take(event);
      await recorder.finish(scenario);
      const { entries, closes } = recorder;
      return { outcome: "done", organizationId, ledgerId, ...apiKey, entries, closes };
    });
  } catch (error) {
    if (!(error instanceof KeyConflict)) throw error;
    await pool.transaction((transaction) => writeBarrier(transaction, ledgerId));
    return { outcome: "seededBefore", organizationId };
  }
}

async function insertLedgerWithChart(
  transaction: Connection,
  { ledger, createdAt }: SeedScenario,
  key: { readonly masterKey: Buffer; readonly createdAt: Timestamp },
): Promise<{ apiKey: string; apiSecret: string }> {
  const { organizationId, ledgerId } = ledger;
  await withKeyConflict(
    "organizations_pkey",
    insertOrganization(transaction, { organizationId, name: "Seeded organization", createdAt }),
  );
  const settings = { name: "Seeded books", closesInOrder: false, createdAt };
  await insertLedger(transaction, { ...ledger, ...settings });
  await upsertAccounts(transaction, ledgerId, seedChart, createdAt);
  await insertAssetRules(transaction, ledgerId, walletAssets, createdAt);
  await insertSummedJournal(transaction, ledgerId);
  const made = await createApiKey(transaction, {
    organizationId,
    scopes: defaultScopes,
    ...key,
    expiresAt: null,
  });
  if (made === null) throw new Error("an organization just made is there");
  return made;
}

/** Writes events in few large statements. */
class Recorder {
  readonly closes: CloseRecord[] = [];
  entries = 0;
  readonly #transaction: Connection;
  readonly #ledgerId: string;
  readonly #onProgress: (entries: number) => void;
  #gathered: Entry[] = [];
  #summedSequence = 0;
  #underWay: Promise<unknown>[] = [];

  constructor(transaction: Connection, ledgerId: string, onProgress: (entries: number) => void) {
    this.#transaction = transaction;
    this.#ledgerId = ledgerId;
    this.#onProgress = onProgress;
  }

  /** Takes one event; when too many statements are under way, waits for them. */
  async take(event: SeedEvent): Promise<void> {
    const [transaction, ledgerId] = [this.#transaction, this.#ledgerId];
    switch (event.kind) {
      case "entry":
        this.#gathered.push(event.entry);
        if (this.#gathered.length >= entriesPerWrite) this.#writeEntries();
        break;
      case "walletBatch":
        this.#send(
          insertWalletWrites(transaction, ledgerId, event.batch.writes),
          insertPendingPostings(transaction, ledgerId, event.batch.pendingPostings),
        );
        break;
      case "rules":
        this.#send(insertAssetRules(transaction, ledgerId, event.rules, event.at));
        break;
      case "posting": {
        const { posting, journalId } = event;
        const marks = posting.pendingPostingIds.map((pendingPostingId) => ({
          pendingPostingId,
          journalId,
        }));
        this.#send(
          markPosted(transaction, ledgerId, marks),
          upsertPostingTotals(transaction, ledgerId, posting.totals),
          insertWalletPostings(transaction, ledgerId, [{ ...posting, journalId }]),
        );
        break;
      }
      case "close":
        this.closes.push(event.record);
        this.#send(...insertClose(transaction, event.record, event.balances, event.subtrees));
    }
    if (this.#underWay.length >= underWayMax) await this.#answered();
  }

  /** Writes what is left: the last entries, the wallets as they are in the end, and the journal's head. */
  async finish(scenario: SeedScenario): Promise<void> {
    this.#writeEntries();
    const [transaction, ledgerId] = [this.#transaction, this.#ledgerId];
    const { wallets, holds } = scenario.walletStates();
    const head = scenario.head();
    for (const part of partsOf(wallets)) this.#send(insertWallets(transaction, ledgerId, part));
    const frozen = wallets.filter(({ frozenAt }) => frozenAt !== null);
    for (const part of partsOf(frozen)) {
      this.#send(updateControlledWallets(transaction, ledgerId, part));
    }
    for (const part of partsOf(holds)) this.#send(upsertHolds(transaction, ledgerId, part));
    if (head !== null) this.#send(advanceJournalHead(transaction, ledgerId, head));
    await this.#answered();
  }

  #writeEntries(): void {
    const entries = this.#gathered;
    this.#gathered = [];
    if (entries.length === 0) return;
    const [transaction, ledgerId] = [this.#transaction, this.#ledgerId];
    this.#send(
      insertEntries(transaction, ledgerId, entries),
      insertLines(transaction, ledgerId, entries),
      insertReversals(transaction, ledgerId, entries),
      addToBalances(transaction, ledgerId, balanceChanges(entries)),
    );
    this.entries += entries.length;
    this.#sumSpans();
  }

  /** As servers do in the background: they would be slow at first, with so many entries to sum at once. */
  #sumSpans(): void {
    while (this.entries - this.#summedSequence >= entriesPerSpan) {
      const afterSequence = this.#summedSequence;
      this.#summedSequence += entriesPerSpan;
      const span = { afterSequence, upToSequence: this.#summedSequence };
      this.#send(
        addSpan(this.#transaction, this.#ledgerId, span),
        addRegisterSpan(this.#transaction, this.#ledgerId, span),
      );
    }
  }

  #send(...replies: Promise<unknown>[]): void {
    // A failure is reported when the statement is awaited; until then it must not count as unhandled.
    for (const reply of replies) reply.catch(() => undefined);
    this.#underWay.push(...replies);
  }

  async #answered(): Promise<void> {
    const underWay = this.#underWay;
    this.#underWay = [];
    await Promise.all(underWay);
    this.#onProgress(this.entries);
  }
}

function* partsOf<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += rowsPerWrite) {
    yield rows.slice(from, from + rowsPerWrite);
  }
}
