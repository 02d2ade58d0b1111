// What keys do on the screen for the books. Pure.
import { labelCodePointsMax } from "../../../core/text.ts";
import { scrolledTo, scrollTarget } from "../../terminal/screen/scrolling.ts";
import type { TreeRow } from "./account-tree.ts";
import { placeOf, type Rows } from "./ui-rows.ts";
import {
  listStart,
  paneNames,
  topView,
  type ListPlace,
  type OpenedView,
  type UiState,
} from "./ui-state.ts";

/** `rows`: those that are seen, of which `height` at once. */
export function pressKey(state: UiState, key: string, rows: Rows, height: number): UiState {
  if (state.isHelpShown) return { ...state, isHelpShown: false };
  if (state.typed !== null) return type(state, state.typed, key);
  const place = placeOf(state);
  const target = scrollTarget(key, place.scroll, rows.rows.length, height);
  if (target !== null) {
    const scroll = scrolledTo(place.scroll, target, rows.rows.length, height);
    return withPlace(state, { ...place, scroll });
  }
  const pane = paneNames[Number(key) - 1];
  if (pane !== undefined) return { ...state, pane, opened: [] };
  switch (key) {
    case "?":
      return { ...state, isHelpShown: true };
    case "/":
      return canSearch(rows) ? { ...state, typed: place.search } : state;
    case "tab":
      return { ...state, pane: nextPane(state), opened: [] };
    case "escape":
    case "h":
    case "left":
    case "backspace":
      return goBack(state);
    case "return":
    case "l":
    case "right":
      return open(state, rows, place.scroll.chosen);
    case "space":
      return fold(state, rows, place.scroll.chosen);
    default:
      return state;
  }
}

/** What is told in detail is not searched. */
function canSearch({ kind }: Rows): boolean {
  return kind !== "details";
}

function nextPane({ pane }: UiState) {
  return paneNames[(paneNames.indexOf(pane) + 1) % paneNames.length] ?? pane;
}

function withPlace(state: UiState, place: ListPlace): UiState {
  const { opened, pane, places } = state;
  const view = topView(state);
  return view === null
    ? { ...state, places: { ...places, [pane]: place } }
    : { ...state, opened: opened.with(-1, { ...view, place }) };
}

function withSearch(state: UiState, search: string): UiState {
  return search === placeOf(state).search ? state : withPlace(state, { ...listStart, search });
}

/** While a search is typed, lists that are here follow it; a search that the service does waits for Enter. */
function type(state: UiState, typed: string, key: string): UiState {
  const isHere = topView(state) !== null || state.pane !== "journal";
  const now = (text: string): UiState => {
    if (Array.from(text).length > labelCodePointsMax) return state;
    const next = { ...state, typed: text };
    return isHere ? withSearch(next, text) : next;
  };
  switch (key) {
    case "return":
      return { ...withSearch(state, typed), typed: null };
    case "escape":
      return { ...withSearch(state, ""), typed: null };
    case "backspace":
      return now(Array.from(typed).slice(0, -1).join(""));
    case "space":
      return now(`${typed} `);
    default:
      return Array.from(key).length === 1 ? now(typed + key) : state;
  }
}

/** First out of a search, then out of what was opened. */
function goBack(state: UiState): UiState {
  if (placeOf(state).search !== "") return withSearch(state, "");
  return { ...state, opened: state.opened.slice(0, -1) };
}

function open(state: UiState, rows: Rows, chosen: number): UiState {
  const view = openedBy(state, rows, chosen);
  if (view !== null) return { ...state, opened: [...state.opened, view] };
  return fold(state, rows, chosen);
}

function openedBy(state: UiState, { kind, rows }: Rows, chosen: number): OpenedView | null {
  switch (kind) {
    case "accounts": {
      const account = rows[chosen]?.node.account;
      return account == null ? null : registerOf(account);
    }
    case "journal":
    case "register": {
      const row = rows[chosen];
      return row === undefined ? null : entryOf(row.journalId);
    }
    case "periods": {
      const close = rows[chosen]?.close;
      return close === undefined ? null : { kind: "close", place: listStart, close };
    }
    case "details": {
      const opens = rows[chosen]?.opens;
      if (opens == null) return null;
      if ("entry" in opens) return entryOf(opens.entry);
      return registerOf({
        glAccountCode: opens.account,
        name: state.names.get(opens.account) ?? "",
      });
    }
  }
}

function registerOf({
  glAccountCode,
  name,
}: {
  readonly glAccountCode: string;
  readonly name: string;
}): OpenedView {
  return {
    kind: "register",
    account: { glAccountCode, name },
    place: listStart,
    lines: [],
    isComplete: false,
    atSequence: null,
  };
}

function entryOf(journalId: string): OpenedView {
  return { kind: "entry", place: listStart, journalId, entry: null };
}

/** Hides or shows what is below a node of the tree of accounts. */
function fold(state: UiState, { kind, rows }: Rows, chosen: number): UiState {
  const row: TreeRow | undefined = kind === "accounts" ? rows[chosen] : undefined;
  if (row === undefined || row.node.children.length === 0) return state;
  const collapsed = new Set(state.collapsed);
  if (!collapsed.delete(row.node.key)) collapsed.add(row.node.key);
  return { ...state, collapsed };
}
