// Streams of wallets and journals over WebSocket (RFC 6455): an upgrade is authenticated and authorized as any request, then
// the connection becomes a stream. Which events there are, and in which order, is the hubs'.
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { assert, validationRefusal } from "../../core/errors.ts";
import type { JournalHub } from "../../engine/journal-hub.ts";
import type { WalletHub } from "../../engine/wallet-hub.ts";
import { routes } from "../../contract/routes.ts";
import { rejectionOf } from "../admission.ts";
import { headerFault } from "../broken-requests.ts";
import { afterAnswers } from "../exchanges.ts";
import type { HttpCounts } from "../http-counts.ts";
import { asRefusal } from "../problems.ts";
import type { LogAnswer } from "../request-log.ts";
import { authorize, type Dispatcher } from "../route-dispatch.ts";
import { closeCodes } from "./close-codes.ts";
import { clientMessageBytesMax } from "./limits.ts";
import { EntryStream } from "./entry-stream.ts";
import { declineUpgradesOfBodies, ignoreUpgrade, streamTarget, Upgrade } from "./upgrade.ts";
import { WalletStream } from "./wallet-stream.ts";

interface StreamServices {
  readonly dispatcher: Dispatcher;
  readonly walletHub: WalletHub;
  readonly journalHub: JournalHub;
  readonly logAnswer: LogAnswer;
  readonly counts: HttpCounts;
}

/** One reader of a wallet or of a journal. */
interface Stream {
  /** Begins to buffer events; to be called before the upgrade is answered. */
  subscribe(): Promise<void>;
  /** Replays and sends to the socket until it is closed. `connection` is what the socket writes to. */
  attach(socket: WebSocket, connection: Duplex): void;
  end(): void;
}

/** Answers upgrades to a server's streams. Other upgrades are answered as the requests that they are. */
export function serveStreams(server: Server, services: StreamServices) {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: clientMessageBytesMax });
  services.counts.countStreams = () => sockets.clients.size;
  // ws passes the request on, and nothing else.
  const upgrades = new WeakMap<IncomingMessage, Upgrade>();
  sockets.on("wsClientError", (error: Error, _socket: Duplex, request: IncomingMessage) => {
    upgrades.get(request)?.refuse(validationRefusal([{ path: [], detail: error.message }]));
  });
  sockets.on("headers", (lines: string[], request: IncomingMessage) => {
    const headers = upgrades.get(request)?.headers() ?? {};
    lines.push(...Object.entries(headers).map(([name, value]) => `${name}: ${value}`));
  });
  declineUpgradesOfBodies(server);
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    afterAnswers(server, socket, () => {
      const target = streamTarget(request);
      if (target === null) {
        ignoreUpgrade(server, request, socket, head);
        return;
      }
      socket.on("error", () => {
        socket.destroy();
      });
      const upgrade = new Upgrade(request, socket, target, services);
      upgrades.set(request, upgrade);
      openStream(sockets, upgrade, head, services).catch((error: unknown) => {
        upgrade.refuse(asRefusal(error));
      });
    });
  });
  return {
    /** Closes every stream with 1001, and cuts those whose readers do not answer within the grace period. */
    close: (graceMs: number) => {
      for (const client of sockets.clients) {
        client.close(closeCodes.goingAway, "the server is stopping");
      }
      sockets.close();
      setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, graceMs).unref();
    },
  };
}

async function openStream(
  sockets: WebSocketServer,
  upgrade: Upgrade,
  head: Buffer,
  services: StreamServices,
): Promise<void> {
  const stream = await authorizeStream(upgrade, services);
  // Before the upgrade is answered: what is accepted once the client knows of it must reach it.
  await stream.subscribe();
  sockets.handleUpgrade(upgrade.request, upgrade.socket, head, (socket) => {
    stream.attach(socket, upgrade.socket);
    upgrade.noteAccepted();
  });
  // The handshake was refused, or the client went meanwhile.
  if (!upgrade.isAccepted) stream.end();
}

/** A stream that its caller may read, or the refusal in the order of precedence of all requests. */
async function authorizeStream(
  upgrade: Upgrade,
  { dispatcher, walletHub, journalHub, counts }: StreamServices,
): Promise<Stream> {
  const fault = headerFault(upgrade.request);
  if (fault !== null) throw validationRefusal([{ path: [], detail: fault }]);
  const { url: target = "", method = "", headers } = upgrade.request;
  const { route, parameters } = upgrade.target;
  const { services } = dispatcher;
  const rejection = rejectionOf(services, routes[route], parameters, upgrade.socket);
  if (rejection !== null) throw rejection;
  const request = { method, target, headers, body: null, parameters };
  const authorized = await authorize(dispatcher, route, request, upgrade);
  const { caller, ledger, callerKey, query } = authorized;
  assert(ledger !== null, "the path of a stream names a ledger");
  const asked = {
    ledgerId: ledger.ledgerId,
    since: query.since,
    isApiKeyLive: () => dispatcher.authenticator.isLive(caller.apiKey),
  };
  if (route === "followEntries") return new EntryStream(journalHub, counts, asked);
  assert(callerKey !== null, "a wallet key that passed names a wallet");
  return new WalletStream(walletHub, counts, { ...asked, callerKey });
}
