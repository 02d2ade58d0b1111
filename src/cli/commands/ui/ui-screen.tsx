// The screen for the books, put together: what the service answers and keys change the state, and frames show it.
import type { Ledger, LedgerClient } from "../../../client/ledger-client.ts";
import { Exponents } from "../../connection/exponents.ts";
import { runScreen, type ScreenSize } from "../../terminal/screen/run-screen.ts";
import { BooksSource } from "./books-source.ts";
import { pressKey } from "./ui-keys.ts";
import { rowsOf } from "./ui-rows.ts";
import { changeUi, startUi } from "./ui-state.ts";
import { listHeight, UiView } from "./ui-view.tsx";

const frameMs = 250;

/** Shows a ledger until the person quits; resolves with the exit code. Throws what the service refuses for good. */
export async function uiOnScreen(
  client: LedgerClient,
  ledger: Ledger,
  isColored: boolean,
): Promise<number> {
  const ending = new AbortController();
  const exponents = new Exponents(client, ledger.id);
  await exponents.learn([ledger.functionalCurrency]);
  let state = startUi(ledger);
  let shownSize: ScreenSize = { columns: 80, rows: 23 };
  const source = new BooksSource(client, ledger.id, exponents, {
    state: () => state,
    height: () => listHeight(shownSize),
    change: (event) => {
      state = changeUi(state, event);
    },
  });
  try {
    return await runScreen({
      draw: (size) => {
        shownSize = size;
        return <UiView {...{ state, size, isColored }} exponentOf={exponents.of} />;
      },
      onKey: (key, size) => {
        const rows = rowsOf(state, size.columns, exponents.of);
        state = pressKey(state, key, rows, listHeight(size));
        source.poke();
      },
      isTyping: () => state.typed !== null,
      frameMs,
      source: source.run(ending.signal),
    });
  } finally {
    ending.abort();
  }
}
