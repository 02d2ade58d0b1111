// Every statement that the simulated database knows.
import { Handlers } from "../handler.ts";
import { addCloseStatements } from "./closes.ts";
import { addJournalStatements } from "./journal.ts";
import { addLedgerStatements } from "./ledgers.ts";
import { addPostingStatements } from "./postings.ts";
import { addStreamStatements } from "./streams.ts";
import { addWalletStatements } from "./wallets.ts";

export function learnStatements(): Handlers {
  const handlers = new Handlers();
  addLedgerStatements(handlers);
  addJournalStatements(handlers);
  addWalletStatements(handlers);
  addPostingStatements(handlers);
  addCloseStatements(handlers);
  addStreamStatements(handlers);
  return handlers;
}
