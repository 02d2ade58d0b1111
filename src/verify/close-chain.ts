// Closes of several bundles compared with each other: numbers, hashes of the closes before, and openings.
import type { BalanceRow, CloseRecord } from "../core/close.ts";
import type { Timestamp } from "../core/time.ts";
import { anchoredBy, gaps, notAnchored, withFindings, type CloseVerdict } from "./verdict.ts";

/** A bundle that was checked by itself. */
export interface CheckedBundle {
  readonly record: CloseRecord;
  readonly balances: readonly BalanceRow[];
  readonly verdict: CloseVerdict;
}

/**
 * The bundles by ledger and number, each compared with the others of its ledger: one number is one close, a close names the
 * one right before it, and begins with the closings where that period ended. What is missing between two numbers is not
 * compared, and is no finding.
 */
export function linkCloses<Bundle extends CheckedBundle>(bundles: readonly Bundle[]): Bundle[] {
  const ledgers = [...new Set(bundles.map(({ record }) => record.ledgerId))];
  return ledgers.flatMap((ledgerId) => {
    const chain = bundles
      .filter(({ record }) => record.ledgerId === ledgerId)
      .sort((one, other) => one.record.number - other.record.number);
    return chain.map((bundle) => ({ ...bundle, verdict: linked(bundle, chain) }));
  });
}

/**
 * The same bundles, where a close that is vouched for also vouches for the one before it: its closeHash covers that hash.
 * `isVouched` says whose record is known from elsewhere. The others are told to be not anchored.
 */
export function anchorChain<Bundle extends CheckedBundle>(
  bundles: readonly Bundle[],
  isVouched: (bundle: Bundle) => boolean,
): Bundle[] {
  const named = new Set<string | null>();
  const anchored = [...bundles].reverse().map((bundle) => {
    const { verdict, record } = bundle;
    const isOwn = isVouched(bundle);
    const isNamed = named.has(verdict.closeHash);
    if (isOwn || isNamed) named.add(record.previousCloseHash);
    if (isOwn || verdict.anchored) return bundle;
    const what = "the closeHash, which the close after it names";
    return { ...bundle, verdict: isNamed ? anchoredBy(verdict, what) : notAnchored(verdict) };
  });
  return anchored.reverse();
}

function linked({ record, balances, verdict }: CheckedBundle, chain: readonly CheckedBundle[]) {
  const faults = chain.flatMap((other) => conflicts(record, verdict, other));
  const before = chain.find((other) => other.record.number === record.number - 1);
  const ended = chain
    .filter((other) => other.record.number < record.number)
    .findLast((other) => record.startsAt !== null && other.record.endsAt === record.startsAt);
  const checked: string[] = [];
  let { notChecked } = verdict;
  if (before !== undefined) {
    const found = linkFaults(record, before);
    faults.push(...found);
    if (found.length === 0) checked.push("previousCloseHash, with the close before");
    notChecked = notChecked.filter((what) => what !== gaps.closesBefore);
  }
  let openings: string[] = [];
  if (ended !== undefined) {
    const moved = movedOpenings(balances, ended.balances);
    notChecked = notChecked.filter((what) => what !== gaps.openings);
    if (moved.length === 0) checked.push("the openings, with the closings of the close before");
    else if (isAllClosed(chain, ended)) openings = moved;
    else notChecked = [...notChecked, describeMoved(moved, ended, record)];
  }
  return withFindings({ ...verdict, checked: [...verdict.checked, ...checked], notChecked }, [
    ...faults.map((what) => ({ where: "close", what })),
    ...openings.map((code) => ({
      where: `account ${JSON.stringify(code)}`,
      what: `opening is not the closing of close ${ended?.record.number}, before which all was closed`,
    })),
  ]);
}

/** What can't be said of two closes of one ledger. */
function conflicts(record: CloseRecord, verdict: CloseVerdict, other: CheckedBundle): string[] {
  if (other.record.number === record.number) {
    const { closeHash } = other.verdict;
    const what = `${record.number} is two different closes: another has the closeHash ${closeHash}`;
    return closeHash === verdict.closeHash ? [] : [what];
  }
  return (["closeId", "periodId"] as const).flatMap((name) =>
    other.record[name] === record[name]
      ? [`${name} ${JSON.stringify(record[name])} is that of close ${other.record.number} too`]
      : [],
  );
}

function linkFaults(record: CloseRecord, before: CheckedBundle): string[] {
  const { number, lastSequence, closedAt } = before.record;
  const faults: string[] = [];
  if (record.previousCloseHash !== before.verdict.closeHash) {
    const found = `close ${number} comes to ${before.verdict.closeHash}`;
    faults.push(`previousCloseHash is ${record.previousCloseHash}, but ${found}`);
  }
  if (record.lastSequence < lastSequence) {
    faults.push(
      `lastSequence is ${record.lastSequence}, before that of close ${number}, ${lastSequence}`,
    );
  }
  if (record.closedAt <= closedAt) {
    faults.push(`closedAt is ${record.closedAt}, not after that of close ${number}, ${closedAt}`);
  }
  return faults;
}

/** Accounts whose openings are not the closings that came before. */
function movedOpenings(rows: readonly BalanceRow[], before: readonly BalanceRow[]): string[] {
  const closings = new Map(before.map(({ glAccountCode, closing }) => [glAccountCode, closing]));
  const moved: string[] = [];
  for (const { glAccountCode, opening } of rows) {
    if (opening !== (closings.get(glAccountCode) ?? 0n)) moved.push(glAccountCode);
    closings.delete(glAccountCode);
  }
  const missing = [...closings].filter(([, closing]) => closing !== 0n).map(([code]) => code);
  return [...moved, ...missing];
}

/** Whether these closes, up to this one, leave no moment open before its end: then nothing could be posted there since. */
function isAllClosed(chain: readonly CheckedBundle[], { record }: CheckedBundle): boolean {
  const closed = chain.filter((other) => other.record.number <= record.number);
  let end: Timestamp | null = null;
  for (;;) {
    const further: Timestamp | null = closedBeyond(closed, end);
    if (further === null) return end !== null && end >= record.endsAt;
    end = further;
  }
}

/** How far closes reach that begin no later than `end`, or at the beginning; null where that is no further than `end`. */
function closedBeyond(closes: readonly CheckedBundle[], end: Timestamp | null): Timestamp | null {
  let latest = end;
  for (const { startsAt, endsAt } of closes.map(({ record }) => record)) {
    const isReached = startsAt === null || (end !== null && startsAt <= end);
    if (isReached && (latest === null || endsAt > latest)) latest = endsAt;
  }
  return latest === end ? null : latest;
}

const accountsShown = 5;

function describeMoved(
  moved: readonly string[],
  { record: before }: CheckedBundle,
  { startsAt }: CloseRecord,
): string {
  const codes = moved.slice(0, accountsShown).map((code) => JSON.stringify(code));
  const more = moved.length > codes.length ? ` and ${moved.length - codes.length} more` : "";
  return (
    `the openings of ${codes.join(", ")}${more}: they are not the closings of close ${before.number}, so entries dated ` +
    `before ${startsAt} were posted between the two closes, and these are not here`
  );
}
