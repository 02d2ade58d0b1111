// The screen for the books. A view of props only.
import { Box, Text } from "ink";
import type { ReactElement } from "react";
import type { ExponentOf } from "../../connection/exponents.ts";
import { shortened } from "../../terminal/fit-columns.ts";
import { printable } from "../../terminal/printable.ts";
import { Frame, frameRows } from "../../terminal/screen/frame.tsx";
import type { ScreenSize } from "../../terminal/screen/run-screen.ts";
import { scrolledTo } from "../../terminal/screen/scrolling.ts";
import { Table, type ScreenColumn } from "../../terminal/screen/table.tsx";
import {
  accountColumns,
  detailColumns,
  journalColumns,
  periodColumns,
  registerColumns,
} from "./ui-columns.ts";
import { placeOf, rowsOf, type Rows } from "./ui-rows.ts";
import { topView, type UiState } from "./ui-state.ts";

export interface UiViewProps {
  readonly state: UiState;
  readonly size: ScreenSize;
  readonly exponentOf: ExponentOf;
  readonly isColored: boolean;
}

const tableHeadRows = 1;

/** Rows of a list that the screen has room for. */
export function listHeight({ rows }: ScreenSize): number {
  return Math.max(1, rows - frameRows - tableHeadRows);
}

const keys = [
  ["q", "quit"],
  ["?", "help"],
  ["enter", "open"],
  ["esc", "back"],
  ["/", "search"],
  ["tab", "next"],
] as const;

const typingKeys = [
  ["enter", "keep"],
  ["esc", "clear"],
] as const;

const help = [
  "1 2 3, tab     accounts, journal, periods",
  "j k ↑ ↓        a row down, up",
  "g G            first, last",
  "pgup pgdn      a page up, down",
  "enter l →      open; on a line, its account",
  "esc h ←        back; out of a search",
  "space          fold, unfold",
  "/              search",
  "? q            this help, quit",
] as const;

export function UiView({ state, size, exponentOf, isColored }: UiViewProps): ReactElement {
  const { ledger, typed, fault, journal } = state;
  const shown = rowsOf(state, size.columns, exponentOf);
  const { search } = placeOf(state);
  const sought = typed ?? search;
  return (
    <Frame
      size={size}
      isColored={isColored}
      title={titleOf(state)}
      alarms={[
        ...(fault === null ? [] : [`no answer, trying again: ${printable(fault)}`]),
        ...(shown.kind !== "journal" || journal.refusal === null
          ? []
          : [`the search is refused: ${printable(journal.refusal)}`]),
        ...(ledger.status === "active" ? [] : [ledger.status]),
      ]}
      facts={[
        ...(typed === null && sought === ""
          ? []
          : [`/${printable(sought)}${typed === null ? "" : "_"}`]),
        ...(shown.kind === "details" ? [] : [countOf(state, shown)]),
        ...(state.lastSequence === null ? [] : [`entry ${state.lastSequence}`]),
        printable(ledger.name),
      ]}
      keys={typed === null ? keys : typingKeys}
    >
      {state.isHelpShown ? <Help /> : <List {...{ state, size, exponentOf, isColored, shown }} />}
    </Frame>
  );
}

function Help(): ReactElement {
  return (
    <Box flexDirection="column">
      {help.map((line) => (
        <Text key={line} wrap="truncate">
          {line}
        </Text>
      ))}
    </Box>
  );
}

/** What is seen: `1000 Cash`, `entry 17`. */
function titleOf(state: UiState): string {
  const view = topView(state);
  switch (view?.kind) {
    case "register": {
      const { glAccountCode, name } = view.account;
      return shortened(printable(`${glAccountCode} ${name}`), titleMax, {});
    }
    case "entry":
      return view.entry === null ? "entry" : `entry ${view.entry.sequence}`;
    case "close":
      return shortened(printable(view.close.periodId), titleMax, {});
    case undefined:
      return state.pane;
  }
}

/** Columns of the terminal. */
const titleMax = 28;

/** `3 of 120`, and a plus where more may follow. */
function countOf(state: UiState, { rows }: Rows): string {
  if (rows.length === 0) return isLoaded(state) ? "none" : "reading …";
  const view = topView(state);
  const isComplete =
    view?.kind === "register"
      ? view.isComplete
      : view !== null || state.pane !== "journal" || state.journal.isComplete;
  const { chosen } = placeOf(state).scroll;
  return `${Math.min(chosen, rows.length - 1) + 1} of ${rows.length}${isComplete ? "" : "+"}`;
}

function isLoaded(state: UiState): boolean {
  const view = topView(state);
  if (view?.kind === "register") return view.atSequence !== null && view.isComplete;
  if (state.pane === "accounts") return state.treeAtSequence !== null;
  if (state.pane === "journal") return state.journal.atSequence !== null;
  return state.monthsAtSequence !== null;
}

function List({
  state,
  size,
  exponentOf,
  isColored,
  shown,
}: UiViewProps & { readonly shown: Rows }): ReactElement {
  const currency = state.ledger.functionalCurrency;
  const height = listHeight(size);
  const place = placeOf(state);
  const scroll = scrolledTo(place.scroll, place.scroll.chosen, shown.rows.length, height);
  const to = scroll.from + height;
  const table = <Row,>(
    rows: readonly Row[],
    columnsOf: (seen: readonly Row[]) => readonly ScreenColumn<Row>[],
  ) => {
    const seen = rows.slice(scroll.from, to);
    const keyed = seen.map((row, index) => ({ row, key: String(scroll.from + index) }));
    return (
      <Table
        columns={columnsOf(seen).map((column) => ({
          ...column,
          text: ({ row }: { row: Row }) => column.text(row),
          color: ({ row }: { row: Row }) => column.color?.(row),
        }))}
        rows={keyed}
        keyOf={({ key }) => key}
        chosenKey={String(scroll.chosen)}
        width={size.columns}
        isColored={isColored}
      />
    );
  };
  switch (shown.kind) {
    case "accounts":
      return table(shown.rows, (seen) => accountColumns(seen, currency, exponentOf));
    case "journal":
      return table(shown.rows, (seen) => journalColumns(seen, currency, exponentOf));
    case "periods":
      return table(shown.rows, periodColumns);
    case "register":
      return table(shown.rows, (seen) => registerColumns(seen, currency, exponentOf));
    case "details":
      return table(shown.rows, () => detailColumns);
  }
}
