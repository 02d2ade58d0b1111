// Postings of wallets: which pending postings make one journal entry, the amounts of its lines, and what stays
// pending. Pure.
import { convert, parseRate, type AssetRule } from "./asset.ts";
import type { NewPendingPosting } from "./wallet-pending.ts";
import type { Entry, JsonObject, Line } from "./journal.ts";
import type { LedgerIdentity } from "./ledger.ts";
import type { ClosedCalendar } from "./period.ts";
import type { Timestamp } from "./time.ts";

/** A pending posting as it is read back: only the wallets of its spans are needed. */
export type PendingPosting = Omit<NewPendingPosting, "spans"> & {
  readonly walletIds: readonly string[];
};

/** What has been posted so far of one side under one rule, before and after conversion. */
export interface PostingTotal {
  readonly assetCode: string;
  readonly ruleVersion: number;
  readonly side: "credit" | "debit";
  readonly amount: bigint;
  readonly functionalAmount: bigint;
}

export interface PostingSnapshot {
  readonly ledger: LedgerIdentity;
  readonly pending: readonly PendingPosting[];
  /** Every version of every rule of the ledger. */
  readonly rules: readonly AssetRule[];
  readonly totals: readonly PostingTotal[];
  readonly closed: ClosedCalendar;
}

/** One entry to be made, and the pending postings that it settles. */
export interface Posting {
  readonly assetCode: string;
  readonly ruleVersion: number;
  readonly lines: readonly Line[];
  readonly transactionDate: Timestamp;
  readonly metadata: JsonObject;
  readonly pendingPostingIds: readonly string[];
  readonly walletIds: readonly string[];
  /** The totals of its sides, with it included. */
  readonly totals: readonly PostingTotal[];
}

type RatedRule = AssetRule & { readonly rate: string };

interface Group {
  readonly rule: RatedRule;
  readonly pending: PendingPosting[];
}

/**
 * What can be posted now. It is gathered by asset, rule and UTC day. What has no rate yet, and a side whose
 * value rounds to nothing, stays pending whole.
 */
export function planPostings(snapshot: PostingSnapshot): Posting[] {
  const totals = new Map(snapshot.totals.map((total) => [totalKey(total), total]));
  return [...gather(snapshot).values()].flatMap((group) => {
    const posting = postGroup(group, totals, snapshot);
    for (const total of posting?.totals ?? []) totals.set(totalKey(total), total);
    return posting === null ? [] : [posting];
  });
}

function gather({ pending, rules }: PostingSnapshot): Map<string, Group> {
  const groups = new Map<string, Group>();
  const inOrder = [...pending].sort((a, b) => (a.acceptedTo < b.acceptedTo ? -1 : 1));
  for (const one of inOrder) {
    const rule = postingRule(rules, one);
    if (rule === null) continue;
    const key = `${one.assetCode} ${rule.version} ${one.acceptedTo.slice(0, 10)}`;
    const group = groups.get(key) ?? { rule, pending: [] };
    group.pending.push(one);
    groups.set(key, group);
  }
  return groups;
}

/** The rule a write was accepted under or, where that had no rate yet, the first one after it that has. */
function postingRule(rules: readonly AssetRule[], pending: PendingPosting): RatedRule | null {
  const { assetCode, ruleVersion } = pending;
  const rated = rules.filter((rule): rule is RatedRule => rule.rate !== null);
  const [first] = rated
    .filter((rule) => rule.assetCode === assetCode && rule.version >= ruleVersion)
    .sort((a, b) => a.version - b.version);
  return first ?? null;
}

function postGroup(
  { rule, pending }: Group,
  totals: ReadonlyMap<string, PostingTotal>,
  { ledger, closed }: PostingSnapshot,
): Posting | null {
  const posted = (["credit", "debit"] as const).flatMap((side) => {
    const own = pending.filter((each) => each.side === side);
    return postSide(rule, side, own, totals) ?? [];
  });
  if (posted.length === 0) return null;
  const settled = posted.flatMap((each) => each.pending);
  const walletIds = [...new Set(settled.flatMap((each) => each.walletIds))];
  const acceptedTo = settled.map((each) => each.acceptedTo).reduce((a, b) => (a < b ? b : a));
  const acceptedFrom = settled.map((each) => each.acceptedFrom).reduce((a, b) => (a < b ? a : b));
  return {
    assetCode: rule.assetCode,
    ruleVersion: rule.version,
    lines: posted.flatMap((each) => linesOf(each, rule, ledger)),
    // What was accepted can always be posted: if its period is closed, at the first open instant after it.
    transactionDate: closed.firstOpenInstant(acceptedTo),
    metadata: {
      acceptedFrom,
      acceptedTo,
      writes: settled.reduce((sum, { writeCount }) => sum + writeCount, 0),
      wallets: walletIds.length,
    },
    pendingPostingIds: settled.map(({ pendingPostingId }) => pendingPostingId),
    walletIds,
    totals: posted.map(({ total }) => total),
  };
}

interface PostedSide {
  readonly side: "credit" | "debit";
  readonly pending: readonly PendingPosting[];
  readonly amount: bigint;
  readonly functionalAmount: bigint;
  readonly total: PostingTotal;
}

/** Converts the running total and subtracts what has been posted of it, so that rounding does not drift. */
function postSide(
  rule: RatedRule,
  side: "credit" | "debit",
  pending: readonly PendingPosting[],
  totals: ReadonlyMap<string, PostingTotal>,
): PostedSide | null {
  const identity = { assetCode: rule.assetCode, ruleVersion: rule.version, side };
  const before = totals.get(totalKey(identity)) ?? { amount: 0n, functionalAmount: 0n };
  const rate = parseRate(rule.rate);
  if (rate === null) throw new Error(`the rate of ${rule.assetCode} is no decimal: ${rule.rate}`);
  const amount = pending.reduce((sum, each) => sum + each.amount, 0n);
  const functionalTotal = convert(before.amount + amount, rate);
  const functionalAmount = functionalTotal - before.functionalAmount;
  if (functionalAmount === 0n) return null;
  const total = { ...identity, amount: before.amount + amount, functionalAmount: functionalTotal };
  return { side, pending, amount, functionalAmount, total };
}

/** Credits: the clearing account Dr, the wallets account Cr; debits the reverse. */
function linesOf(posted: PostedSide, rule: RatedRule, ledger: LedgerIdentity): Line[] {
  const line = (glAccountCode: string, sign: bigint): Line => ({
    glAccountCode,
    description: null,
    transactionAmount: sign * posted.amount,
    transactionCurrency: rule.assetCode,
    functionalAmount: sign * posted.functionalAmount,
    functionalCurrency: ledger.functionalCurrency,
    spotRate: rule.assetCode === ledger.functionalCurrency ? null : Number(rule.rate),
  });
  const [debited, credited] =
    posted.side === "credit"
      ? [rule.clearingAccount, rule.walletsAccount]
      : [rule.walletsAccount, rule.clearingAccount];
  return [line(debited, 1n), line(credited, -1n)];
}

/** What a total is of. */
export function totalKey(total: Pick<PostingTotal, "assetCode" | "ruleVersion" | "side">): string {
  return `${total.assetCode} ${total.ruleVersion} ${total.side}`;
}

/** The entry of a posting. */
export function postingEntry(
  posting: Posting,
  ledger: LedgerIdentity,
  identity: Pick<Entry, "journalId" | "sequence" | "persistedAt">,
): Entry {
  return {
    ...identity,
    ledgerId: ledger.ledgerId,
    externalId: null,
    originSystem: "ledgerctl",
    originAccount: null,
    eventType: "WALLET_BATCH",
    description: null,
    metadata: posting.metadata,
    transactionDate: posting.transactionDate,
    entryType: "STANDARD",
    postingStatus: "POSTED",
    reversesJournalId: null,
    lines: posting.lines,
  };
}
