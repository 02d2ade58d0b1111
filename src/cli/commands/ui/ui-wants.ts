// What the screen for the books has to ask the service for, by what it shows. Pure.
import { foundLines, topView, type UiState } from "./ui-state.ts";

export type Want =
  | { readonly kind: "accounts" }
  | { readonly kind: "months" }
  | { readonly kind: "entry"; readonly journalId: string }
  /** The newest, or those that follow what is here. */
  | { readonly kind: "journal"; readonly isFollowing: boolean }
  | { readonly kind: "register"; readonly glAccountCode: string; readonly isFollowing: boolean };

/** The most urgent first. `height`: rows of a list that are seen at once. */
export function wantsOf(state: UiState, height: number): Want[] {
  const { lastSequence, treeAtSequence, monthsAtSequence, pane } = state;
  if (lastSequence === null) return [];
  const wants: Want[] = [];
  const view = topView(state);
  if (view?.kind === "entry" && view.entry === null) {
    wants.push({ kind: "entry", journalId: view.journalId });
  }
  if (view?.kind === "register") {
    const { glAccountCode } = view.account;
    const known = { length: foundLines(view).length, isComplete: view.isComplete };
    if (view.atSequence !== lastSequence) {
      wants.push({ kind: "register", glAccountCode, isFollowing: false });
    } else if (isShort(known, view.place.scroll.from, height)) {
      wants.push({ kind: "register", glAccountCode, isFollowing: true });
    }
  }
  if (view === null && pane === "journal") {
    const { entries, isComplete, atSequence, search } = state.journal;
    const place = state.places.journal;
    if (atSequence !== lastSequence || search !== place.search) {
      wants.push({ kind: "journal", isFollowing: false });
    } else if (isShort({ length: entries.length, isComplete }, place.scroll.from, height)) {
      wants.push({ kind: "journal", isFollowing: true });
    }
  }
  if (treeAtSequence === null || (treeAtSequence !== lastSequence && pane === "accounts")) {
    wants.push({ kind: "accounts" });
  }
  if (pane === "periods" && monthsAtSequence !== lastSequence) wants.push({ kind: "months" });
  return wants;
}

/** Whether what is here ends less than a screen below what is seen. */
function isShort(
  { length, isComplete }: { readonly length: number; readonly isComplete: boolean },
  from: number,
  height: number,
): boolean {
  return !isComplete && length < from + 2 * height;
}
