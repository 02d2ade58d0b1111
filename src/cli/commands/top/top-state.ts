// What the screen of `top` knows, and how answers and keys change it. Pure.
import { figuresOf, type Figures } from "./figures.ts";
import type { Scrape } from "./metrics-text.ts";

export interface TopState {
  readonly last: Scrape | null;
  /** The newest first. */
  readonly history: readonly Figures[];
  /** What is shown while the screen stands still. */
  readonly paused: readonly Figures[] | null;
  /** Why there was no answer the last time; null while there is. */
  readonly fault: string | null;
}

export type TopEvent =
  | { readonly type: "scrape"; readonly scrape: Scrape }
  | { readonly type: "fault"; readonly fault: string }
  | { readonly type: "key"; readonly key: string };

const historyMax = 60;

export const noFigures: TopState = { last: null, history: [], paused: null, fault: null };

/** `nowMs`: Unix time. */
export function changeTop(state: TopState, event: TopEvent, nowMs: number): TopState {
  switch (event.type) {
    case "fault":
      return { ...state, fault: event.fault };
    case "scrape": {
      const { scrape } = event;
      const figures = state.last === null ? [] : [figuresOf(state.last, scrape, nowMs)];
      const history = [...figures, ...state.history].slice(0, historyMax);
      return { ...state, last: scrape, history, fault: null };
    }
    case "key":
      if (event.key !== "p" && event.key !== "space") return state;
      return { ...state, paused: state.paused === null ? state.history : null };
  }
}
