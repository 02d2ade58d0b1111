// What the screen of `entry tail` knows, and how entries and keys change it. Pure: time is handed in.
import type { Entry } from "../../../client/ledger-client.ts";
import { noActivity, withActivity, type Activity } from "../../terminal/screen/activity.ts";
import { scrolledTo, scrollTarget, type Scroll } from "../../terminal/screen/scrolling.ts";
import { shortDate } from "../../terminal/short-date.ts";

/** Writes a sum of the functional currency for people. */
export type ShowAmount = (amount: bigint) => string;

/** An entry in a row. */
export interface TailRow {
  readonly sequence: number;
  readonly date: string;
  /** The sum of its debits. */
  readonly amount: string;
  readonly journalId: string;
  readonly text: string;
}

export interface TailState {
  /** The newest first. */
  readonly entries: readonly Entry[];
  /** All that have come, of which `entries` are the last. */
  readonly count: number;
  readonly activity: Activity;
  readonly stream: "connecting" | "connected" | "lost";
  /** What is shown while the screen stands still. */
  readonly paused: readonly Entry[] | null;
  readonly isDetailed: boolean;
  readonly scroll: Scroll;
}

export type TailEvent =
  | { readonly type: "entry"; readonly entry: Entry }
  | { readonly type: "stream"; readonly state: "connected" | "lost" }
  /** `height`: rows of entries that are seen. */
  | { readonly type: "key"; readonly key: string; readonly height: number };

/** Entries that can be scrolled back to. */
export const entriesKept = 500;

export const emptyTail: TailState = {
  entries: [],
  count: 0,
  activity: noActivity,
  stream: "connecting",
  paused: null,
  isDetailed: false,
  scroll: { chosen: 0, from: 0 },
};

export function changeTail(state: TailState, event: TailEvent, nowMs: number): TailState {
  switch (event.type) {
    case "entry":
      return takeEntry(state, event.entry, nowMs);
    case "stream":
      return { ...state, stream: event.state };
    case "key":
      return pressKey(state, event.key, event.height);
  }
}

/** Whoever looks at an older entry goes on looking at it; at the top the newest is chosen. */
function takeEntry(state: TailState, entry: Entry, nowMs: number): TailState {
  const { chosen, from } = state.scroll;
  const isAtTop = chosen === 0 || state.paused !== null;
  return {
    ...state,
    entries: [entry, ...state.entries.slice(0, entriesKept - 1)],
    count: state.count + 1,
    activity: withActivity(state.activity, nowMs),
    scroll: isAtTop
      ? state.scroll
      : { chosen: Math.min(chosen + 1, entriesKept - 1), from: from + 1 },
  };
}

function pressKey(state: TailState, key: string, height: number): TailState {
  const { length } = shownEntries(state);
  const target = scrollTarget(key, state.scroll, length, height);
  if (target !== null) {
    return { ...state, scroll: scrolledTo(state.scroll, target, length, height) };
  }
  switch (key) {
    case "d":
    case "return":
      return { ...state, isDetailed: !state.isDetailed };
    case "p":
    case "space":
      return { ...state, paused: state.paused === null ? state.entries : null };
    default:
      return state;
  }
}

/** What is to be seen, the newest first. */
export function shownEntries({ paused, entries }: TailState): readonly Entry[] {
  return paused ?? entries;
}

export function tailRow(entry: Entry, show: ShowAmount): TailRow {
  const { sequence, journalId, transactionDate, entryType, description, eventType } = entry;
  const amounts = entry.lines.map(({ functionalAmount }) => BigInt(functionalAmount));
  const sum = amounts.filter((amount) => amount > 0n).reduce((all, amount) => all + amount, 0n);
  const kind = entryType === "STANDARD" ? [] : [`[${entryType.toLowerCase()}]`];
  return {
    sequence,
    journalId,
    date: shortDate(transactionDate),
    amount: show(sum),
    text: [...kind, description ?? eventType ?? ""].join(" ").trim(),
  };
}
