// Load shedding before a request costs anything. Connections over the limit are answered 503, and closed where they are
// far too many; a write to a ledger whose lane is full is rejected before its body is read and its signature checked.
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Route } from "../contract/routes.ts";
import { isOverload, overloadRefusal, Refusal } from "../core/errors.ts";
import { lanesOverloaded } from "../engine/group-commit.ts";
import { isKnown } from "./exchanges.ts";
import { ledgerIdIn, type PathParameters } from "./path-parameters.ts";

/** Connections over the limit that are still answered. */
const answeredOverLimitMax = 1_000;
const retryAfterSecondsMax = 3;

/** The queues of writes, by their kind. */
export type WriteQueues = Readonly<
  Record<NonNullable<Route["lane"]>, { readonly lanes: { isFull(ledgerId: string): boolean } }>
>;

/** The value of `Retry-After`: 1 to 3 s, at random, so that clients rejected together do not come back together. */
export function retryAfterSeconds(): string {
  return String(1 + Math.floor(Math.random() * retryAfterSecondsMax));
}

const overLimit = new WeakSet<Duplex>();

/**
 * Takes connections up to `connectionsMax`, and some over the limit, which can be answered; more are closed without a
 * word. How many are open is kept in `counts`.
 */
export function limitConnections(
  server: Server,
  connectionsMax: number,
  counts: { connections: number },
): void {
  // Nobody understands a connection that is closed without a word, but answers too have to end somewhere.
  server.maxConnections = connectionsMax + answeredOverLimitMax;
  server.prependListener("connection", (socket: Socket) => {
    // One whose upgrade was not taken comes a second time. A new one is not known yet: this listener was prepended, so
    // it runs before that of Connections, which makes the connection known.
    if (isKnown(socket)) return;
    counts.connections += 1;
    if (counts.connections > connectionsMax) overLimit.add(socket);
    socket.once("close", () => {
      counts.connections -= 1;
    });
  });
}

/** Whether a connection came when there were enough: its next answer is its last. */
export function isOverLimit(socket: Duplex): boolean {
  return overLimit.has(socket);
}

/** What holds of a connection that came when there were enough holds of its encrypted socket, too. */
export function keepOverLimit(socket: Duplex, encrypted: Duplex): void {
  if (overLimit.has(socket)) overLimit.add(encrypted);
}

/** The rejection of a request of the API before its body is read; null where it is admitted. */
export function rejectionOf(
  queues: WriteQueues,
  { lane }: Route,
  parameters: PathParameters,
  socket: Duplex,
): Refusal | null {
  if (isOverLimit(socket)) {
    return overloadRefusal("too many connections are open; try again in a moment");
  }
  if (lane === undefined) return null;
  // As far as it is an id at all, lanes have it in lower case.
  const ledgerId = ledgerIdIn(parameters)?.toLowerCase();
  return ledgerId !== undefined && queues[lane].lanes.isFull(ledgerId) ? lanesOverloaded : null;
}

/** The kinds of rejections that may be very many. */
export type PacedKind = "overload" | "rateLimited";

/**
 * The kind of a rejection that may be one of very many; null for others. The rejection of a connection over the limit
 * is none of them: it ends the connection, and does not wait.
 */
export function pacedAs(error: unknown, socket: Duplex): PacedKind | null {
  if (!(error instanceof Refusal) || isOverLimit(socket)) return null;
  if (error.problem === "rateLimited") return "rateLimited";
  return isOverload(error) ? "overload" : null;
}
