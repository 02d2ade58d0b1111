// The handler of each route, by the name that both have.
import type { RouteName } from "../../contract/routes.ts";
import * as journalEntries from "./journal-entries.ts";
import * as ledgers from "./ledgers.ts";
import * as periodCloses from "./period-closes.ts";
import type { RouteHandler } from "./route-handler.ts";
import * as trialBalance from "./trial-balance.ts";
import * as wallets from "./wallets.ts";

export const routeHandlers: { [Name in RouteName]: RouteHandler<Name> } = {
  ...journalEntries,
  ...ledgers,
  ...periodCloses,
  ...trialBalance,
  ...wallets,
};
