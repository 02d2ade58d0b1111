// What the screen of `wallet tail` knows, and how messages and keys change it. Pure: time is handed in.
import {
  noActivity,
  ratePerSecond,
  withActivity,
  type Activity,
} from "../../terminal/screen/activity.ts";
import { scrolledTo, scrollTarget, type Scroll } from "../../terminal/screen/scrolling.ts";

export type StreamState = "connecting" | "connected" | "lost";

/** One change of a wallet. */
export interface Change {
  readonly atMs: number;
  readonly seq: number;
  /** What it did to the balance, and to what is held. */
  readonly balance: bigint;
  readonly held: bigint;
}

export interface Wallet {
  readonly key: string;
  readonly balance: bigint;
  readonly available: bigint;
  /** Of the last message; null before the first. */
  readonly seq: number | null;
  /** The newest first. */
  readonly changes: readonly Change[];
  readonly lastPostedAtMs: number | null;
  readonly activity: Activity;
  readonly stream: StreamState;
}

export const sortOrders = [
  "as given",
  "name",
  "balance",
  "held",
  "changes/s",
  "last change",
] as const;

export type SortOrder = (typeof sortOrders)[number];

export interface TailState {
  readonly wallets: readonly Wallet[];
  /** What is shown while the screen stands still: wallets as they were, and when. */
  readonly paused: { readonly wallets: readonly Wallet[]; readonly atMs: number } | null;
  readonly sort: SortOrder;
  readonly isReversed: boolean;
  readonly isDetailed: boolean;
  readonly scroll: Scroll;
}

export interface Figures {
  readonly balance: string;
  readonly available: string;
}

export interface BalanceMessage extends Figures {
  readonly seq: number;
  readonly isPosting: boolean;
}

export type TailEvent =
  | { readonly type: "message"; readonly index: number; readonly message: BalanceMessage }
  /** Figures that were asked for; they hold until the stream tells something. */
  | { readonly type: "figures"; readonly index: number; readonly figures: Figures }
  | { readonly type: "stream"; readonly index: number; readonly state: StreamState }
  /** `height`: rows of wallets that are seen. */
  | { readonly type: "key"; readonly key: string; readonly height: number };

const changesMax = 20;

/** Wallets in the order given, with the figures that they have by now. */
export function startTail(wallets: readonly (Figures & { readonly key: string })[]): TailState {
  return {
    wallets: wallets.map(({ key, balance, available }) => ({
      key,
      balance: BigInt(balance),
      available: BigInt(available),
      seq: null,
      changes: [],
      lastPostedAtMs: null,
      activity: noActivity,
      stream: "connecting",
    })),
    paused: null,
    sort: "as given",
    isReversed: false,
    isDetailed: false,
    scroll: { chosen: 0, from: 0 },
  };
}

export function changeTail(state: TailState, event: TailEvent, nowMs: number): TailState {
  if (event.type === "key") return pressKey(state, event.key, event.height, nowMs);
  const wallet = state.wallets[event.index];
  if (wallet === undefined) return state;
  return { ...state, wallets: state.wallets.with(event.index, changeWallet(wallet, event, nowMs)) };
}

function changeWallet(
  wallet: Wallet,
  event: Exclude<TailEvent, { type: "key" }>,
  nowMs: number,
): Wallet {
  switch (event.type) {
    case "stream":
      return { ...wallet, stream: event.state };
    case "message":
      return takeMessage(wallet, event.message, nowMs);
    case "figures": {
      if (wallet.seq !== null) return wallet;
      const { balance, available } = event.figures;
      return { ...wallet, balance: BigInt(balance), available: BigInt(available) };
    }
  }
}

/** A posting changes no figure. */
function takeMessage(wallet: Wallet, message: BalanceMessage, nowMs: number): Wallet {
  if (message.isPosting) return { ...wallet, lastPostedAtMs: nowMs };
  const balance = BigInt(message.balance);
  const available = BigInt(message.available);
  const change = {
    atMs: nowMs,
    seq: message.seq,
    balance: balance - wallet.balance,
    held: heldOf({ balance, available }) - heldOf(wallet),
  };
  return {
    ...wallet,
    balance,
    available,
    seq: message.seq,
    changes: [change, ...wallet.changes.slice(0, changesMax - 1)],
    activity: withActivity(wallet.activity, nowMs),
  };
}

export function heldOf({ balance, available }: Pick<Wallet, "balance" | "available">): bigint {
  return balance - available;
}

function pressKey(state: TailState, key: string, height: number, nowMs: number): TailState {
  const { scroll, wallets } = state;
  const target = scrollTarget(key, scroll, wallets.length, height);
  if (target !== null) {
    return { ...state, scroll: scrolledTo(scroll, target, wallets.length, height) };
  }
  switch (key) {
    case "s":
      return { ...state, sort: nextSort(state.sort, 1) };
    case "S":
      return { ...state, sort: nextSort(state.sort, -1) };
    case "r":
      return { ...state, isReversed: !state.isReversed };
    case "d":
    case "return":
      return { ...state, isDetailed: !state.isDetailed };
    case "p":
    case "space":
      return { ...state, paused: state.paused === null ? { wallets, atMs: nowMs } : null };
    default:
      return state;
  }
}

function nextSort(sort: SortOrder, by: 1 | -1): SortOrder {
  const place = sortOrders.indexOf(sort) + by + sortOrders.length;
  return sortOrders[place % sortOrders.length] ?? "as given";
}

/** What is to be seen: the wallets in their order, and the moment that they are of. */
export function shownWallets(
  state: TailState,
  nowMs: number,
): { readonly wallets: readonly Wallet[]; readonly atMs: number } {
  const { wallets, atMs } = state.paused ?? { wallets: state.wallets, atMs: nowMs };
  const sorted = wallets.toSorted((a, b) => compare(a, b, state.sort, atMs));
  return { wallets: state.isReversed ? sorted.reverse() : sorted, atMs };
}

/** The greatest and the latest come first, names in order of the alphabet; equal ones as they were given. */
function compare(a: Wallet, b: Wallet, sort: SortOrder, atMs: number): number {
  switch (sort) {
    case "balance":
      return descending(a.balance, b.balance);
    case "held":
      return descending(heldOf(a), heldOf(b));
    case "changes/s":
      return descending(ratePerSecond(a.activity, atMs), ratePerSecond(b.activity, atMs));
    case "last change":
      return descending(a.changes[0]?.atMs ?? 0, b.changes[0]?.atMs ?? 0);
    case "name":
      return -descending(a.key, b.key);
    case "as given":
      return 0;
  }
}

function descending<Value extends bigint | number | string>(a: Value, b: Value): number {
  return a === b ? 0 : a > b ? -1 : 1;
}

/** Changes of all wallets in a second, the mean of the last few. */
export function totalRate(wallets: readonly Wallet[], atMs: number): number {
  return wallets.reduce((sum, { activity }) => sum + ratePerSecond(activity, atMs), 0);
}
