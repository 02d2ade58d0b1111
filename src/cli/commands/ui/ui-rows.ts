// The rows of what is seen, for keys and for the view alike. Pure.
import type { Close, Entry, RegisterLine } from "../../../client/ledger-client.ts";
import { closeDetails, entryDetails, type DetailRow } from "./detail-rows.ts";
import { holdsText, treeRows, type TreeRow } from "./account-tree.ts";
import { foundLines, topView, type ListPlace, type UiState } from "./ui-state.ts";
import type { ExponentOf } from "../../connection/exponents.ts";

/** A period that is closed, or a month that has entries and is open. */
export type PeriodRow =
  | { readonly close: Close; readonly open?: never }
  | {
      readonly open: { readonly periodId: string; readonly entryCount: number };
      readonly close?: never;
    };

export type Rows =
  | { readonly kind: "accounts"; readonly rows: readonly TreeRow[] }
  | { readonly kind: "journal"; readonly rows: readonly Entry[] }
  | { readonly kind: "periods"; readonly rows: readonly PeriodRow[] }
  | { readonly kind: "register"; readonly rows: readonly RegisterLine[] }
  | { readonly kind: "details"; readonly rows: readonly DetailRow[] };

/** `columns`: of the terminal, since what is told in detail is wrapped. */
export function rowsOf(state: UiState, columns: number, exponentOf: ExponentOf): Rows {
  const view = topView(state);
  switch (view?.kind) {
    case "register":
      return { kind: "register", rows: foundLines(view) };
    case "entry":
      return {
        kind: "details",
        rows: view.entry === null ? [] : entryDetails(view.entry, columns, exponentOf),
      };
    case "close":
      return { kind: "details", rows: closeDetails(view.close, columns) };
    case undefined:
      return paneRows(state);
  }
}

function paneRows(state: UiState): Rows {
  const { pane, places } = state;
  const { search } = places[pane];
  switch (pane) {
    case "accounts":
      return { kind: "accounts", rows: treeRows(state.tree, state.collapsed, search) };
    case "journal":
      return { kind: "journal", rows: state.journal.entries };
    case "periods":
      return {
        kind: "periods",
        rows: periodRows(state).filter((row) => holdsText(periodIdOf(row), search)),
      };
  }
}

export function periodIdOf({ close, open }: PeriodRow): string {
  return (close ?? open).periodId;
}

/** The latest first. */
function periodRows({ closes, openMonths }: UiState): PeriodRow[] {
  const rows: PeriodRow[] = [
    ...openMonths.map((open) => ({ open })),
    ...closes.map((close) => ({ close })),
  ];
  // A month's label orders as the dates in it do; closes after what they end with.
  const endOf = (row: PeriodRow) =>
    row.close === undefined ? `${row.open.periodId}-32` : row.close.endsAt;
  return rows.sort((left, right) => (endOf(left) < endOf(right) ? 1 : -1));
}

/** Where in these rows somebody is. */
export function placeOf(state: UiState): ListPlace {
  return topView(state)?.place ?? state.places[state.pane];
}
