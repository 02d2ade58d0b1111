// What a handler is given and what it gives back.
import type { Refusal } from "../../core/errors.ts";
import type { LedgerIdentity } from "../../core/ledger.ts";
import type { ExactJson } from "../../contract/exact-json.ts";
import type { PathTemplates } from "../../contract/paths.ts";
import type { RouteName, RouteQuery, RouteReply } from "../../contract/routes.ts";
import type { Closes } from "../../engine/closes.ts";
import type { DeliveryAdministration } from "../../engine/deliveries/delivery-administration.ts";
import type { Journal } from "../../engine/journal.ts";
import type { LedgerAdministration } from "../../engine/ledger-administration.ts";
import type { LogReader } from "../../engine/logs/log-reader.ts";
import type { WalletReader } from "../../engine/wallet-reader.ts";
import type { Wallets } from "../../engine/wallets.ts";
import type { Connection } from "../../store/database/connection.ts";
import type { Pool, ReadPool } from "../../store/database/pool.ts";
import type { Caller } from "../authenticate.ts";

/** How long one statement of a list, a proof or a bundle may take. */
const searchMsMax = 30_000;

/** What a page of entries or of lines may weigh as JSON; one of them alone may weigh more. */
export const pageBytesMax = 8 * 1024 * 1024;

/** What handlers work with. */
export interface Services {
  /** For reads that are cheap, whatever they are asked for. */
  readonly interactive: Pool;
  /** For what grows with the ledger and may take minutes, and has to be the primary's. */
  readonly longRunning: Pool;
  /** For other reads that grow with the ledger; the replica's, where there is one. */
  readonly longReads: ReadPool;
  /** For reading a ledger page by page: as `interactive`, or the replica's, where there is one. */
  readonly pages: ReadPool;
  readonly journal: Journal;
  readonly closes: Closes;
  readonly wallets: Wallets;
  readonly walletReader: WalletReader;
  readonly logs: LogReader;
  readonly administration: LedgerAdministration;
  readonly deliveries: DeliveryAdministration;
}

/** What of a request its route's path names, decoded; a path names a ledger by itself or with a wallet. */
type PathParameters<Path extends string> =
  (Path extends `${string}{${"ledgerId" | "walletKey"}}${string}`
    ? {
        /** Known to be the caller's. */
        readonly ledger: LedgerIdentity;
      }
    : unknown) &
    (Path extends `${string}{walletKey}${string}` ? { readonly callerKey: string } : unknown) &
    (Path extends `${string}{entryId}${string}` ? { readonly entryId: string } : unknown) &
    (Path extends `${string}{holdId}${string}` ? { readonly holdId: string } : unknown) &
    (Path extends `${string}{closeId}${string}` ? { readonly closeId: string } : unknown) &
    (Path extends `${string}{glAccountCode}${string}`
      ? { readonly glAccountCode: string }
      : unknown) &
    (Path extends `${string}{log}${string}` ? { readonly log: string } : unknown) &
    (Path extends `${string}{assetCode}${string}` ? { readonly assetCode: string } : unknown) &
    (Path extends `${string}{deliveryId}${string}` ? { readonly deliveryId: string } : unknown);

export type RouteRequest<Name extends RouteName> = PathParameters<PathTemplates[Name]> & {
  readonly caller: Caller;
  readonly query: RouteQuery<Name>;
  /** null where the request had none; an empty body is none. */
  readonly body: ExactJson | null;
  readonly bodyBytes: number;
  /** Aborts when nobody waits for the answer any more: for reads that may take long. */
  readonly gone: () => AbortSignal;
  readonly requestId: string;
  /** For the log: why a part of the request was refused whose answer as a whole is no refusal. */
  readonly noteRefusal: (refusal: Refusal) => void;
};

export type RouteHandler<Name extends RouteName> = (
  services: Services,
  request: RouteRequest<Name>,
) => Promise<RouteReply<Name>>;

/** What grows with the ledger is read through it: each statement ends in time, or when nobody waits any more. */
export function limitSearch(
  { longReads }: Services,
  request: { readonly gone: () => AbortSignal },
): Connection {
  return longReads.within({ signal: request.gone(), timeoutMs: searchMsMax });
}

/** The same for reads that have to agree: together they end in time, or when nobody waits any more. */
export function searchInSnapshot<Result>(
  { longReads }: Services,
  request: { readonly gone: () => AbortSignal },
  work: (snapshot: Connection) => Promise<Result>,
): Promise<Result> {
  return longReads.snapshot(work, { signal: request.gone(), timeoutMs: searchMsMax });
}
