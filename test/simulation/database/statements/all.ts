// Every statement that the simulated database knows.
import { Handlers, type Handler } from "../handler.ts";
import { addCloseStatements } from "./closes.ts";
import { addJournalStatements } from "./journal.ts";
import { addLedgerStatements } from "./ledgers.ts";
import { addPostingStatements } from "./postings.ts";
import { addStreamStatements } from "./streams.ts";
import { addWalletStatements } from "./wallets.ts";

/** By text, as the store sends it. */
export function learnStatements(): ReadonlyMap<string, Handler> {
  const handlers = new Handlers();
  addLedgerStatements(handlers);
  addJournalStatements(handlers);
  addWalletStatements(handlers);
  addPostingStatements(handlers);
  addCloseStatements(handlers);
  addStreamStatements(handlers);
  return handlers.byText;
}
