// What the screen for the books knows, and how answers change it. Pure. Keys are in ui-keys.ts.
import type { Close, Entry, Ledger, RegisterLine } from "../../../client/ledger-client.ts";
import type { Scroll } from "../../terminal/screen/scrolling.ts";
import { accountTree, holdsText, type AccountFigures, type TreeNode } from "./account-tree.ts";

export const paneNames = ["accounts", "journal", "periods"] as const;
export type PaneName = (typeof paneNames)[number];

/** Where somebody is in a list, and what it is searched for. */
export interface ListPlace {
  readonly scroll: Scroll;
  readonly search: string;
}

export const listStart: ListPlace = { scroll: { chosen: 0, from: 0 }, search: "" };

/** What was opened from a list, and from what was opened from that. */
export type OpenedView =
  | {
      readonly kind: "register";
      readonly account: Pick<AccountFigures, "glAccountCode" | "name">;
      readonly place: ListPlace;
      /** The newest first. */
      readonly lines: readonly RegisterLine[];
      readonly isComplete: boolean;
      /** The journal's last sequence when the first of them were read; null before that. */
      readonly atSequence: number | null;
    }
  | {
      readonly kind: "entry";
      readonly place: ListPlace;
      readonly journalId: string;
      /** Null until it is there. */
      readonly entry: Entry | null;
    }
  | { readonly kind: "close"; readonly place: ListPlace; readonly close: Close };

export interface OpenMonth {
  readonly periodId: string;
  readonly entryCount: number;
}

export interface UiState {
  readonly ledger: Ledger;
  /** Of the journal; null before it is known. */
  readonly lastSequence: number | null;
  readonly tree: readonly TreeNode[];
  /** Of accounts, by their codes. */
  readonly names: ReadonlyMap<string, string>;
  /** The last sequence that the balances were read after; null before they were. */
  readonly treeAtSequence: number | null;
  readonly collapsed: ReadonlySet<string>;
  readonly journal: {
    /** The newest first; those that the search of the pane finds. */
    readonly entries: readonly Entry[];
    readonly isComplete: boolean;
    readonly atSequence: number | null;
    /** What they were searched for. */
    readonly search: string;
    /** Why the service does not search for it; null where it does. */
    readonly refusal: string | null;
  };
  /** Oldest first. */
  readonly closes: readonly Close[];
  readonly openMonths: readonly OpenMonth[];
  readonly monthsAtSequence: number | null;
  readonly pane: PaneName;
  readonly places: Readonly<Record<PaneName, ListPlace>>;
  readonly opened: readonly OpenedView[];
  /** What is being typed after `/`; null while nothing is. */
  readonly typed: string | null;
  readonly isHelpShown: boolean;
  /** Why the service did not answer the last time; null while it does. */
  readonly fault: string | null;
}

/** What has been answered. */
export type UiEvent =
  | { readonly type: "fault"; readonly fault: string }
  | { readonly type: "head"; readonly lastSequence: number; readonly closes: readonly Close[] }
  | {
      readonly type: "accounts";
      readonly accounts: readonly AccountFigures[];
      readonly atSequence: number;
    }
  | {
      readonly type: "journal";
      readonly search: string;
      /** The newest first: all that are known now, or those that follow. */
      readonly entries: readonly Entry[];
      readonly isFollowing: boolean;
      readonly isComplete: boolean;
      readonly refusal: string | null;
      readonly atSequence: number;
    }
  | {
      readonly type: "register";
      readonly glAccountCode: string;
      readonly lines: readonly RegisterLine[];
      readonly isFollowing: boolean;
      readonly isComplete: boolean;
      readonly atSequence: number;
    }
  | { readonly type: "entry"; readonly entry: Entry }
  | {
      readonly type: "months";
      readonly months: readonly OpenMonth[];
      readonly atSequence: number;
    };

export function startUi(ledger: Ledger): UiState {
  return {
    ledger,
    lastSequence: null,
    tree: [],
    names: new Map(),
    treeAtSequence: null,
    collapsed: new Set(),
    journal: { entries: [], isComplete: false, atSequence: null, search: "", refusal: null },
    closes: [],
    openMonths: [],
    monthsAtSequence: null,
    pane: "accounts",
    places: { accounts: listStart, journal: listStart, periods: listStart },
    opened: [],
    typed: null,
    isHelpShown: false,
    fault: null,
  };
}

export function changeUi(state: UiState, event: UiEvent): UiState {
  switch (event.type) {
    case "fault":
      return { ...state, fault: event.fault };
    case "head": {
      const { lastSequence, closes } = event;
      const known = { ...state, lastSequence, fault: null };
      // A month that has been closed is open no more.
      if (closes.length === 0) return known;
      return {
        ...known,
        closes: [...state.closes, ...closes],
        openMonths: state.openMonths.filter(({ periodId }) =>
          closes.every((close) => close.periodId !== periodId),
        ),
        monthsAtSequence: null,
      };
    }
    case "accounts":
      return {
        ...state,
        tree: accountTree(event.accounts),
        names: new Map(event.accounts.map(({ glAccountCode, name }) => [glAccountCode, name])),
        treeAtSequence: event.atSequence,
      };
    case "journal":
      return takeJournal(state, event);
    case "register":
      return mapOpened(state, (view) =>
        view.kind === "register" && view.account.glAccountCode === event.glAccountCode
          ? takeRegister(view, event)
          : view,
      );
    case "entry":
      return mapOpened(state, (view) =>
        view.kind === "entry" && view.journalId === event.entry.journalId
          ? { ...view, entry: event.entry }
          : view,
      );
    case "months":
      return { ...state, openMonths: event.months, monthsAtSequence: event.atSequence };
  }
}

function mapOpened(state: UiState, change: (view: OpenedView) => OpenedView): UiState {
  return { ...state, opened: state.opened.map(change) };
}

function takeJournal(state: UiState, event: Extract<UiEvent, { type: "journal" }>): UiState {
  const { journal, places } = state;
  // An answer to an earlier search says nothing about this one.
  if (event.search !== places.journal.search) return state;
  const { search, isComplete, refusal, atSequence } = event;
  const entries = event.isFollowing ? [...journal.entries, ...event.entries] : event.entries;
  const before = journal.search === search ? journal.entries : [];
  const idOf = ({ journalId }: Entry) => journalId;
  const place = event.isFollowing
    ? places.journal
    : keptPlace(places.journal, before, entries, idOf);
  return {
    ...state,
    journal: { search, entries, isComplete, refusal, atSequence },
    places: { ...places, journal: place },
  };
}

type RegisterView = Extract<OpenedView, { kind: "register" }>;

function takeRegister(
  view: RegisterView,
  event: Extract<UiEvent, { type: "register" }>,
): RegisterView {
  const { isComplete } = event;
  if (event.isFollowing) return { ...view, lines: [...view.lines, ...event.lines], isComplete };
  const { lines, atSequence } = event;
  const place = keptPlace(view.place, foundLines(view), foundLines({ ...view, lines }), lineKey);
  return { ...view, lines, isComplete, atSequence, place };
}

/** An entry may have several lines on one account: their balances differ, or they are alike. */
function lineKey({ journalId, amount, description }: RegisterLine): string {
  return [journalId, amount, description].join(" ");
}

/** The lines of a register that its search finds. */
export function foundLines({
  lines,
  place: { search },
}: Pick<RegisterView, "lines" | "place">): readonly RegisterLine[] {
  if (search === "") return lines;
  return lines.filter(({ description, externalId, counterAccounts, transactionDate }) =>
    [description ?? "", externalId ?? "", transactionDate, ...counterAccounts].some((text) =>
      holdsText(text, search),
    ),
  );
}

/** The place in a list that has been read anew: what was chosen stays chosen, and at the top whatever is newest. */
function keptPlace<Row>(
  place: ListPlace,
  before: readonly Row[],
  now: readonly Row[],
  keyOf: (row: Row) => string,
): ListPlace {
  const { chosen, from } = place.scroll;
  const row = before[chosen];
  if (row === undefined || chosen === 0) return place;
  const key = keyOf(row);
  const found = now.findIndex((candidate) => keyOf(candidate) === key);
  if (found < 0) return place;
  return { ...place, scroll: { chosen: found, from: Math.max(0, from + found - chosen) } };
}

/** What is seen: the view that was opened last, or null where that is the pane. */
export function topView(state: UiState): OpenedView | null {
  return state.opened.at(-1) ?? null;
}
