// `entry tail` as a live screen: entries change what is known, and frames show it, far fewer than entries come.
import type { EntryStreamOptions, LedgerClient } from "../../../client/ledger-client.ts";
import { runScreen } from "../../terminal/screen/run-screen.ts";
import { changeTail, emptyTail, type ShowAmount, type TailEvent } from "./tail-state.ts";
import { entryRows, TailView } from "./tail-view.tsx";

/** Four frames a second: what changes faster can't be read. */
const frameMs = 250;

/** Shows a journal until the person quits; resolves with the exit code. Throws what the stream is refused with. */
export async function tailOnScreen(
  client: LedgerClient,
  ledgerId: string,
  options: {
    readonly since: EntryStreamOptions;
    readonly show: ShowAmount;
    readonly name: string;
    readonly isColored: boolean;
  },
): Promise<number> {
  let state = emptyTail;
  const change = (event: TailEvent) => {
    state = changeTail(state, event, Date.now());
  };
  const stream = client.followEntries(ledgerId, {
    ...options.since,
    onConnection: (now) => {
      change({ type: "stream", state: now });
    },
  });
  const follow = async () => {
    for await (const entry of stream) change({ type: "entry", entry });
  };
  try {
    return await runScreen({
      draw: (size) => <TailView state={state} nowMs={Date.now()} size={size} {...options} />,
      onKey: (key, size) => {
        change({ type: "key", key, height: entryRows(state, size) });
      },
      frameMs,
      source: follow(),
    });
  } finally {
    stream.close();
  }
}
