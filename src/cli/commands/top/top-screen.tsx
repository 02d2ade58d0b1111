// `top` as a live screen.
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../../core/thrown.ts";
import { runScreen } from "../../terminal/screen/run-screen.ts";
import type { Scrape } from "./metrics-text.ts";
import { changeTop, noFigures, type TopEvent } from "./top-state.ts";
import { TopView } from "./top-view.tsx";

/** Figures change with each answer; keys are shown at once anyway. */
const frameMs = 500;

/** Shows the server until the person quits; one that does not answer is asked again. Resolves with the exit code. */
export async function topOnScreen(
  url: string,
  first: Scrape,
  options: {
    readonly scrape: () => Promise<Scrape>;
    readonly intervalMs: number;
    readonly isColored: boolean;
  },
): Promise<number> {
  const ending = new AbortController();
  let state = noFigures;
  const change = (event: TopEvent) => {
    state = changeTop(state, event, Date.now());
  };
  change({ type: "scrape", scrape: first });
  const watch = async () => {
    while (!ending.signal.aborted) {
      await sleep(options.intervalMs, undefined, { signal: ending.signal });
      try {
        change({ type: "scrape", scrape: await options.scrape() });
      } catch (error) {
        change({ type: "fault", fault: messageOf(error) });
      }
    }
  };
  try {
    return await runScreen({
      draw: (size) => <TopView state={state} url={url} size={size} isColored={options.isColored} />,
      onKey: (key) => {
        change({ type: "key", key });
      },
      frameMs,
      source: watch(),
    });
  } finally {
    ending.abort();
  }
}
