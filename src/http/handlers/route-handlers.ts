// The handler of each route, by the name that both have.
import type { RouteName } from "../../contract/routes.ts";
import { getEntry, listEntries, postEntries, postEntry, reverseEntry } from "./journal-entries.ts";
import {
  closePeriod,
  getBundle,
  getClose,
  getProof,
  listCloses,
  previewClose,
} from "./period-closes.ts";
import { getBalance, getLedger, listAccounts, listLedgers } from "./ledgers.ts";
import { getTrialBalance } from "./trial-balance.ts";
import {
  commitHold,
  creditWallet,
  debitWallet,
  getWalletBalance,
  listPostedWrites,
  listWalletWrites,
  releaseHold,
  reserveFunds,
  streamWallet,
  writeWallets,
} from "./wallets.ts";
import type { RouteHandler } from "./route-handler.ts";

export const routeHandlers: { [Name in RouteName]: RouteHandler<Name> } = {
  listLedgers,
  getLedger,
  listAccounts,
  getBalance,
  getTrialBalance,
  postEntry,
  postEntries,
  listEntries,
  getEntry,
  reverseEntry,
  listPostedWrites,
  closePeriod,
  listCloses,
  previewClose,
  getClose,
  getProof,
  getBundle,
  creditWallet,
  debitWallet,
  getWalletBalance,
  listWalletWrites,
  streamWallet,
  reserveFunds,
  commitHold,
  releaseHold,
  writeWallets,
};
