// The tables of the simulated database, with the constraints of migrations/ that a write can meet. Amounts are bigints,
// times are timestamps, as the store's row schemas have them.
import type { BalanceRow, CloseRecord } from "../../../src/core/close.ts";
import type { AssetRule } from "../../../src/core/asset.ts";
import type { Account, LedgerIdentity, LedgerStatus } from "../../../src/core/ledger.ts";
import type { Entry, Line } from "../../../src/core/journal.ts";
import type { PostingTotal } from "../../../src/core/posting.ts";
import type { Timestamp } from "../../../src/core/time.ts";
import type { NewPendingPosting } from "../../../src/core/wallet-pending.ts";
import type { Hold, Wallet, WalletLogEntry } from "../../../src/core/wallet.ts";
import { Table } from "./table.ts";

type OfLedger<Row> = Omit<Row, "ledgerId"> & { readonly ledgerId: string };

export type LedgerRow = LedgerIdentity & { readonly closesInOrder: boolean };
export interface LedgerStateRow {
  readonly ledgerId: string;
  readonly status: LedgerStatus;
}
export interface StateRequestRow {
  readonly ledgerId: string;
  readonly waitsUntilMs: number;
}
export interface JournalHeadRow {
  readonly ledgerId: string;
  readonly lastSequence: number;
  readonly lastPersistedAt: Timestamp | null;
}
export type AccountRow = OfLedger<Account>;
export type JournalEntryRow = Omit<Entry, "lines" | "postingStatus"> & { readonly leaf: string };
export type JournalLineRow = OfLedger<Line> & {
  readonly sequence: number;
  readonly lineNumber: number;
};
export interface ReversalRow {
  readonly ledgerId: string;
  readonly journalId: string;
  readonly reversalJournalId: string;
}
export interface AccountBalanceRow {
  readonly ledgerId: string;
  readonly glAccountCode: string;
  readonly currency: string;
  readonly balance: bigint;
  readonly entryCount: number;
}
export type AssetRuleRow = OfLedger<AssetRule>;
export type WalletRow = OfLedger<Wallet> & { readonly chainedAfter: number | null };
export type WalletWriteRow = OfLedger<Omit<WalletLogEntry, "callerKey">>;
export type WalletHoldRow = OfLedger<Hold>;
export type WalletBatchRow = OfLedger<Omit<NewPendingPosting, "spans">> & {
  readonly walletIds: readonly string[];
  readonly firstSeqs: readonly number[];
  readonly lastSeqs: readonly number[];
  readonly journalId: string | null;
};
export type PostingTotalRow = OfLedger<PostingTotal>;
export interface WalletPostingRow {
  readonly ledgerId: string;
  readonly journalId: string;
  readonly assetCode: string;
  readonly ruleVersion: number;
}
export type CloseBalanceRow = OfLedger<BalanceRow> & { readonly number: number };
export interface CloseSubtreeRow {
  readonly ledgerId: string;
  readonly number: number;
  readonly part: number;
  readonly firstSequence: number;
  readonly root: string;
}

export type Tables = ReturnType<typeof createTables>;

export function createTables() {
  const tables = createEmptyTables();
  const { ledgers, ledgerStates, accounts, assetRules, periodCloses } = tables;
  for (const table of [ledgers, ledgerStates, accounts, assetRules, periodCloses]) {
    table.isAdministration = true;
  }
  return tables;
}

function createEmptyTables() {
  return {
    ledgers: new Table<LedgerRow>({ name: "ledgers_pkey", columns: ["ledgerId"] }),
    ledgerStates: new Table<LedgerStateRow>({ name: "ledger_states_pkey", columns: ["ledgerId"] }),
    stateRequests: new Table<StateRequestRow>({
      name: "ledger_state_requests_pkey",
      columns: ["ledgerId"],
    }),
    journalHeads: new Table<JournalHeadRow>({ name: "journal_heads_pkey", columns: ["ledgerId"] }),
    accounts: new Table<AccountRow>({
      name: "accounts_pkey",
      columns: ["ledgerId", "glAccountCode"],
    }),
    journalEntries: new Table<JournalEntryRow>(
      { name: "journal_entries_pkey", columns: ["ledgerId", "sequence"] },
      { name: "journal_entries_journal_id_key", columns: ["ledgerId", "journalId"] },
      { name: "journal_entries_external_id_key", columns: ["ledgerId", "externalId"] },
    ),
    journalLines: new Table<JournalLineRow>({
      name: "journal_lines_pkey",
      columns: ["ledgerId", "sequence", "lineNumber"],
    }),
    journalReversals: new Table<ReversalRow>({
      name: "journal_reversals_pkey",
      columns: ["ledgerId", "journalId"],
    }),
    accountBalances: new Table<AccountBalanceRow>({
      name: "account_balances_pkey",
      columns: ["ledgerId", "glAccountCode", "currency"],
    }),
    assetRules: new Table<AssetRuleRow>({
      name: "asset_rules_pkey",
      columns: ["ledgerId", "assetCode", "version"],
    }),
    wallets: new Table<WalletRow>(
      { name: "wallets_pkey", columns: ["ledgerId", "callerKey"] },
      { name: "wallets_wallet_id_key", columns: ["ledgerId", "walletId"] },
    ),
    walletWrites: new Table<WalletWriteRow>(
      { name: "wallet_writes_pkey", columns: ["ledgerId", "walletId", "seq"] },
      {
        name: "wallet_writes_external_id_key",
        columns: ["ledgerId", "walletId", "externalId"],
      },
    ),
    walletHolds: new Table<WalletHoldRow>({
      name: "wallet_holds_pkey",
      columns: ["ledgerId", "holdId"],
    }),
    walletBatches: new Table<WalletBatchRow>({
      name: "wallet_batches_pkey",
      columns: ["ledgerId", "pendingPostingId"],
    }),
    postingTotals: new Table<PostingTotalRow>({
      name: "wallet_posting_totals_pkey",
      columns: ["ledgerId", "assetCode", "ruleVersion", "side"],
    }),
    walletPostings: new Table<WalletPostingRow>({
      name: "wallet_postings_pkey",
      columns: ["ledgerId", "journalId"],
    }),
    periodCloses: new Table<CloseRecord>(
      { name: "period_closes_pkey", columns: ["ledgerId", "number"] },
      { name: "period_closes_close_id_key", columns: ["ledgerId", "closeId"] },
      { name: "period_closes_period_id_key", columns: ["ledgerId", "periodId"] },
    ),
    closeBalances: new Table<CloseBalanceRow>({
      name: "period_close_balances_pkey",
      columns: ["ledgerId", "number", "glAccountCode"],
    }),
    closeSubtrees: new Table<CloseSubtreeRow>({
      name: "period_close_subtrees_pkey",
      columns: ["ledgerId", "number", "part"],
    }),
  };
}
