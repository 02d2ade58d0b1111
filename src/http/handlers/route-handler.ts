// What a handler is given and what it gives back.
import type { LedgerIdentity } from "../../core/ledger.ts";
import type { ExactJson } from "../../contract/exact-json.ts";
import type { RouteName, RouteQuery, RouteReply } from "../../contract/routes.ts";
import type { Closes } from "../../engine/closes.ts";
import type { Journal } from "../../engine/journal.ts";
import type { WalletReader } from "../../engine/wallet-reader.ts";
import type { Wallets } from "../../engine/wallets.ts";
import type { ReadPool } from "../../store/read-pool.ts";
import type { WriteConnections } from "../../store/write-connections.ts";
import type { Caller } from "../authenticate.ts";

/** What handlers work with. */
export interface HandlerContext {
  /** For reads that are cheap, whatever they are asked for. */
  readonly pool: ReadPool;
  /** For reads whose cost grows with the books. */
  readonly searches: ReadPool;
  readonly journal: Journal;
  readonly closes: Closes;
  readonly wallets: Wallets;
  readonly walletReader: WalletReader;
  readonly walletLogs: WriteConnections;
  /** For sums over the books, which may take minutes. */
  readonly reports: WriteConnections;
}

export interface RouteRequest<Name extends RouteName> {
  readonly caller: Caller;
  /** The ledger of the path, known to be the caller's. */
  readonly ledger: LedgerIdentity;
  /** The `{entryId}`, `{holdId}` or `{closeId}` of the path, decoded; empty where the path has none. */
  readonly entryId: string;
  readonly holdId: string;
  readonly closeId: string;
  /** The wallet of the path; empty where the path names none. */
  readonly callerKey: string;
  readonly query: RouteQuery<Name>;
  /** null where the request had none; an empty body is none. */
  readonly body: ExactJson | null;
  readonly bodyBytes: number;
}

export type RouteHandler<Name extends RouteName> = (
  books: HandlerContext,
  request: RouteRequest<Name>,
) => Promise<RouteReply<Name>>;
