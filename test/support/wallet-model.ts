// A small model of wallets in memory: it replays their logs and tells whether every answer that clients
// got can be explained by them. Written from the contract; shares nothing with the service's rules.
import { expect } from "vitest";
import type { Limits } from "./transfer-oracle.ts";
import { expectConsistentLog, takesOut, type LoggedRow } from "./wallet-oracle.ts";
import { isMovement, type Attempt, type AttemptType } from "./wallet-traffic.ts";

/** What an attempt is to one wallet: a transfer is something to each of two. */
type View = Omit<Attempt, "type"> & {
  readonly type: Exclude<AttemptType, "transfer"> | "transfer-out" | "transfer-in";
};

/** A wallet after some row of its log; the first one is that of a wallet never written. */
interface State {
  readonly balance: bigint;
  readonly held: bigint;
  /** What stops counting by itself: amounts of active holds that expire, the earliest first. */
  readonly expiring: readonly bigint[];
  readonly isFrozen: boolean;
  /** What was taken out on the UTC day of the row. */
  readonly debited: bigint;
}

interface ActiveHold {
  readonly holdId: string;
  readonly amount: bigint;
  readonly expiresAtMs: number | null;
}

/** One wallet, its log, and what clients tried on it. */
interface Ledgered {
  readonly rows: readonly LoggedRow[];
  readonly states: readonly State[];
  readonly seqOfTag: ReadonlyMap<string, number>;
  readonly seqOfKey: ReadonlyMap<string, number>;
  /** By hold: the row that committed, released, transferred or expired it. */
  readonly endOfHold: ReadonlyMap<string, LoggedRow>;
}

/** Between which seqs an attempt must have taken hold or looked: above `after`'s, below `before`. */
interface Window {
  readonly after: number;
  readonly before: number;
}

/**
 * Every answer was true at some moment between its question and itself, every row of the logs is one
 * attempt's, each key and each hold counts once, and rows are in the order in which answers came.
 */
export function expectExplained(
  attempts: readonly Attempt[],
  logs: ReadonlyMap<string, readonly LoggedRow[]>,
  limits: Limits | null = null,
): void {
  const views = attempts.flatMap(viewsOf);
  for (const [walletKey, rows] of logs) {
    const own = views.filter((attempt) => attempt.walletKey === walletKey);
    const wallet = replay(rows, own);
    const seqs = new Map(own.map((attempt) => [attempt, seqOf(attempt, wallet)]));
    const windows = windowsOf(own, seqs);
    for (const attempt of own) {
      const window = windows.get(attempt);
      if (window === undefined) throw new Error("every attempt has its window");
      explain(attempt, seqs.get(attempt) ?? null, window, { ...wallet, limits });
    }
    expectRowsSent(own, rows);
  }
}

/** A transfer by the wallet that pays, and by the one that is paid. */
function viewsOf(attempt: Attempt): View[] {
  const { type, to, answer, ...rest } = attempt;
  if (type !== "transfer") return [{ ...rest, to, type, answer }];
  const sideOf = (side: "from" | "to") =>
    answer === null ? null : { ...answer, reply: { ...answer.reply, ...answer.reply[side] } };
  return [
    { ...rest, to, type: "transfer-out", answer: sideOf("from") },
    {
      ...{ ...rest, to, type: "transfer-in", answer: sideOf("to") },
      ...{ walletKey: to ?? "", externalId: null, holdId: null },
    },
  ];
}

function isTagged(type: View["type"]): boolean {
  return isMovement(type) || type === "transfer-out" || type === "transfer-in";
}

/** Whether something ends the hold that it names. */
function endsHold({ type, holdId }: { type: string; holdId: string | null }): boolean {
  return type === "commit" || type === "release" || (type === "transfer-out" && holdId !== null);
}

/** Replays a log; what a reservation asked for in seconds is known from the attempt that made it. */
function replay(rows: readonly LoggedRow[], attempts: readonly View[]): Ledgered {
  expectConsistentLog(rows);
  const byTag = new Map(attempts.map((attempt) => [attempt.tag, attempt]));
  const states: State[] = [{ balance: 0n, held: 0n, expiring: [], isFrozen: false, debited: 0n }];
  let isFrozen = false;
  const debits = new Map<string, bigint>();
  const active = new Map<string, ActiveHold>();
  const endOfHold = new Map<string, LoggedRow>();
  for (const row of rows) {
    const holdId = row.holdId ?? "";
    const atMs = Date.parse(row.at);
    const ended = active.get(holdId);
    if (row.type === "expire") expect(ended?.expiresAtMs ?? Infinity).toBeLessThanOrEqual(atMs);
    if (row.type === "freeze" || row.type === "unfreeze") isFrozen = row.type === "freeze";
    const day = row.at.slice(0, 10);
    const isDebit = ["debit", "commit", "transfer-out"].includes(row.type);
    debits.set(day, (debits.get(day) ?? 0n) + (isDebit ? BigInt(row.amount) : 0n));
    if (row.type === "expire" || endsHold(row)) {
      active.delete(holdId);
      endOfHold.set(holdId, row);
    }
    // A write logs what has expired before itself. Expiries of one moment are logged one by one.
    if (row.type !== "expire") {
      const counted = [...active.values(), ...(ended === undefined ? [] : [ended])];
      expect(counted.filter(({ expiresAtMs }) => (expiresAtMs ?? Infinity) <= atMs)).toEqual([]);
    }
    if (row.type === "reserve") {
      const seconds = byTag.get(row.metadata ?? "")?.expiresInSeconds ?? null;
      const expiresAtMs = seconds === null ? null : atMs + seconds * 1_000;
      active.set(holdId, { holdId, amount: BigInt(row.amount), expiresAtMs });
    }
    const expiring = [...active.values()]
      .filter(({ expiresAtMs }) => expiresAtMs !== null)
      .sort((one, other) => (one.expiresAtMs ?? 0) - (other.expiresAtMs ?? 0))
      .map(({ amount }) => amount);
    const figures = { balance: BigInt(row.balance), held: BigInt(row.held) };
    states.push({ ...figures, expiring, isFrozen, debited: debits.get(day) ?? 0n });
  }
  const seqs = (of: (row: LoggedRow) => string | null) =>
    new Map(rows.flatMap((row) => (of(row) === null ? [] : [[of(row) ?? "", row.seq] as const])));
  const seqOfTag = seqs(({ metadata }) => metadata);
  expect(seqOfTag.size).toBe(rows.filter(({ metadata }) => metadata !== null).length);
  const seqOfKey = seqs(({ externalId }) => externalId);
  return { rows, states, seqOfTag, seqOfKey, endOfHold };
}

/** The row that an attempt certainly made; null where it made none, or where nobody can tell which of several did. */
function seqOf({ tag, type, holdId, answer }: View, wallet: Ledgered): number | null {
  if (isTagged(type)) return wallet.seqOfTag.get(tag) ?? null;
  if (!endsHold({ type, holdId }) || answer?.reply.status !== "accepted") return null;
  return wallet.endOfHold.get(holdId ?? "")?.seq ?? null;
}

/** What was answered before a question was asked comes before it in the log; two sweeps over the clock. */
function windowsOf(
  attempts: readonly View[],
  seqs: ReadonlyMap<View, number | null>,
): Map<View, Window> {
  const events = attempts.flatMap((attempt) => [
    { at: attempt.invokedAt, attempt, isAnswer: false },
    { at: attempt.answeredAt, attempt, isAnswer: true },
  ]);
  events.sort((one, other) => (one.at === other.at ? 0 : one.at - other.at));
  const afters = new Map<View, number>();
  let highest = 0;
  for (const { attempt, isAnswer } of events) {
    if (isAnswer && attempt.answer !== null) highest = Math.max(highest, seqs.get(attempt) ?? 0);
    else if (!isAnswer) afters.set(attempt, highest);
  }
  const windows = new Map<View, Window>();
  let lowest = Infinity;
  for (const { attempt, isAnswer } of events.reverse()) {
    if (isAnswer) windows.set(attempt, { after: afters.get(attempt) ?? 0, before: lowest });
    else lowest = Math.min(lowest, seqs.get(attempt) ?? Infinity);
  }
  return windows;
}

function explain(attempt: View, seq: number | null, window: Window, wallet: LimitedWallet): void {
  const { answer, type } = attempt;
  const told = `${JSON.stringify({ ...attempt, amount: String(attempt.amount) })} in ${JSON.stringify(window)}`;
  const row = seq === null ? undefined : wallet.rows[seq - 1];
  if (row !== undefined) {
    expect(row.seq, told).toBeGreaterThan(window.after);
    expect(row.seq, told).toBeLessThan(window.before);
    expect(row.type, told).toBe(type);
    expect(row.externalId, told).toBe(attempt.externalId);
    if (attempt.amount !== null) expect(BigInt(row.amount), told).toBe(attempt.amount);
  }
  if (answer === null) return;
  const { status, reply } = answer;
  const mayBeTrue = () => seqsBetween(window, wallet).some((at) => isTrueAt(attempt, at, wallet));
  if (reply.status === "accepted" && (type === "freeze" || type === "unfreeze")) {
    // Its row bears no tag: one of those that it may be.
    expect(mayBeTrue(), told).toBe(true);
    return;
  }
  if (reply.status === "accepted") {
    expect(status, told).toBe(200);
    expect(row, told).toBeDefined();
    expect(reply.balance, told).toBe(row?.balance);
    const available = BigInt(row?.balance ?? 0) - BigInt(row?.held ?? 0);
    expect(reply.available, told).toBe(String(available));
    if (type === "reserve") expect(reply.holdId, told).toBe(row?.holdId);
    return;
  }
  // A definite answer other than "accepted": this attempt itself wrote nothing.
  expect(row, told).toBeUndefined();
  expect(mayBeTrue(), told).toBe(true);
}

type LimitedWallet = Ledgered & { readonly limits: Limits | null };

/** The states that an answer may have seen. */
function seqsBetween({ after, before }: Window, { states }: Ledgered): number[] {
  const last = Math.min(before, states.length) - 1;
  return Array.from({ length: last - after + 1 }, (_, index) => after + index);
}

/** Whether an answer that wrote nothing was right when the log ended at a seq. */
function isTrueAt(attempt: View, seq: number, wallet: LimitedWallet): boolean {
  const { type, externalId, holdId, answer } = attempt;
  const state = wallet.states[seq];
  if (state === undefined || answer === null) return false;
  const firstSeq = wallet.seqOfKey.get(externalId ?? "") ?? Infinity;
  const isKnown = firstSeq <= seq;
  const first = wallet.rows[firstSeq - 1];
  const end = wallet.endOfHold.get(holdId ?? "");
  const ended = end !== undefined && end.seq <= seq ? end.type : null;
  const { status, reply } = answer;
  switch (status) {
    case 200:
      if (type === "read") return areFigures(reply, state);
      if (type === "freeze" || type === "unfreeze") {
        const isSo = state.isFrozen === (type === "freeze") && areFigures(reply, state);
        return isSo && (reply.status === "duplicate" || wallet.rows[seq - 1]?.type === type);
      }
      expect(reply.status).toBe("duplicate");
      // What used the externalId need not have been a reservation: a transfer out of a hold names it too.
      const reserved = first?.type === "reserve" ? first.holdId : null;
      if (type === "reserve" && reply.holdId !== reserved) return false;
      if (type === "transfer-in") return areFigures(reply, state);
      return areFigures(reply, state) && (isTagged(type) ? isKnown : ended === type);
    case 403:
      // What is told of one wallet of a transfer is no lie about the other.
      return type === "transfer-in" || (takesOut.includes(type) && state.isFrozen);
    case 422:
      return !isKnown && isTooMuch(attempt, answer.text, state, wallet);
    case 404:
      return seq === 0;
    case 409:
      if (type === "transfer-in") return true;
      return !isMovement(type) && ended !== null && (ended !== type || type === "transfer-out");
    default:
      throw new Error(`an answer that nothing explains: ${answer.text}`);
  }
}

/** Whether the reason that was given for a 422 held. */
function isTooMuch(
  { type, amount, holdId }: View,
  reason: string,
  { balance, held, debited }: State,
  { limits, rows }: LimitedWallet,
): boolean {
  const reserved = rows.find((row) => row.type === "reserve" && row.holdId === holdId);
  const moved = amount ?? BigInt(reserved?.amount ?? 0);
  if (reason.includes("the balance would be more")) {
    const isPaid = type === "credit" || type === "transfer-in";
    return (
      type === "transfer-out" ||
      (isPaid && balance + moved > (limits?.maxBalance ?? balance + moved))
    );
  }
  if (type === "transfer-in") return true;
  if (reason.includes("would be taken out")) {
    return (
      ["debit", "commit", "transfer-out"].includes(type) &&
      limits !== null &&
      debited + moved > limits.dailyDebitMax
    );
  }
  return takesOut.includes(type) && balance - held < moved;
}

/** A hold that has expired stops counting before the log has its expiry. */
function areFigures(reply: { balance?: string; available?: string }, state: State): boolean {
  if (reply.balance !== String(state.balance)) return false;
  let available = state.balance - state.held;
  const possible = [available];
  for (const amount of state.expiring) possible.push((available += amount));
  return possible.map(String).includes(reply.available ?? "");
}

/** Nothing is in a log that nobody sent, and a hold's end is of somebody who asked for it. */
function expectRowsSent(attempts: readonly View[], rows: readonly LoggedRow[]): void {
  const tags = new Set(attempts.map(({ tag }) => tag));
  const mayHaveEnded = new Set(
    attempts
      .filter(({ answer }) => answer === null || answer.reply.status === "accepted")
      .map(({ type, holdId }) => `${type} ${holdId ?? ""}`),
  );
  const ends = attempts.filter(
    (attempt) => endsHold(attempt) && attempt.answer?.reply.status === "accepted",
  );
  expect(new Set(ends.map(({ holdId }) => holdId)).size).toBe(ends.length);
  for (const { type, metadata, holdId } of rows) {
    if (endsHold({ type, holdId })) {
      expect(mayHaveEnded).toContain(`${type} ${holdId ?? ""}`);
    }
    if (metadata !== null) expect(tags).toContain(metadata);
    else expect(["commit", "release", "expire", "freeze", "unfreeze"]).toContain(type);
  }
  for (const type of ["freeze", "unfreeze"]) {
    const asked = attempts.filter((attempt) => attempt.type === type);
    const accepted = asked.filter(({ answer }) => answer?.reply.status === "accepted").length;
    const logged = rows.filter((row) => row.type === type).length;
    expect(logged).toBeGreaterThanOrEqual(accepted);
    expect(logged).toBeLessThanOrEqual(asked.length);
  }
}

/**
 * Writes once each and in order. A posting repeats the seq and the balance of the write before it; of its holds,
 * those that have expired meanwhile no longer count, where the stream was opened since. Expiries are not told.
 */
export function expectStreamed(
  messages: readonly { seq?: number; balance: string; available: string }[],
  rows: readonly LoggedRow[],
): void {
  const isPosting = (index: number) => messages[index]?.seq === messages[index - 1]?.seq;
  const writes = messages.filter((_, index) => !isPosting(index));
  const told = rows.filter(({ type }) => type !== "expire");
  expect(writes.map(({ seq }) => seq)).toEqual(told.map(({ seq }) => seq));
  for (const [index, { seq, balance, available }] of messages.entries()) {
    const row = rows[(seq ?? 0) - 1];
    const logged = BigInt(row?.balance ?? 0) - BigInt(row?.held ?? 0);
    expect({ seq, balance }).toEqual({ seq, balance: row?.balance });
    if (isPosting(index)) {
      expect(BigInt(available)).toBeGreaterThanOrEqual(logged);
      expect(BigInt(available)).toBeLessThanOrEqual(BigInt(balance));
    } else expect(available).toBe(String(logged));
  }
}
