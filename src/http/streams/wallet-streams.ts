// Streams of wallets over WebSocket (RFC 6455): an upgrade is authenticated and authorized as any request, then the
// connection becomes a stream. Which events there are, and in which order, is the stream hub's.
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { assert, validationRefusal } from "../../core/errors.ts";
import type { StreamHub } from "../../engine/stream-hub.ts";
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
import { ignoreUpgrade, streamedWalletKey, Upgrade } from "./upgrade.ts";
import { WalletStream } from "./wallet-stream.ts";

interface StreamServices {
  readonly dispatcher: Dispatcher;
  readonly hub: StreamHub;
  readonly logAnswer: LogAnswer;
  readonly counts: HttpCounts;
}

/** Answers upgrades to a server's wallet streams. Other upgrades are answered as the requests that they are. */
export function serveWalletStreams(server: Server, services: StreamServices) {
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
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    afterAnswers(server, socket, () => {
      const walletKey = streamedWalletKey(request);
      if (walletKey === null) {
        ignoreUpgrade(server, request, socket, head);
        return;
      }
      socket.on("error", () => {
        socket.destroy();
      });
      const upgrade = new Upgrade(request, socket, services);
      upgrades.set(request, upgrade);
      openStream(sockets, upgrade, head, walletKey, services).catch((error: unknown) => {
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
  walletKey: string,
  services: StreamServices,
): Promise<void> {
  const stream = await authorizeStream(upgrade, walletKey, services);
  // Before the upgrade is answered: what is accepted once the client knows of it must reach it.
  await stream.subscribe();
  sockets.handleUpgrade(upgrade.request, upgrade.socket, head, (socket) => {
    stream.attach(socket);
    upgrade.noteAccepted();
  });
  // The handshake was refused, or the client went meanwhile.
  if (!upgrade.isAccepted) stream.end();
}

/** A stream that its caller may read, or the refusal in the order of precedence of all requests. */
async function authorizeStream(
  upgrade: Upgrade,
  walletKey: string,
  { dispatcher, hub, counts }: StreamServices,
): Promise<WalletStream> {
  const fault = headerFault(upgrade.request);
  if (fault !== null) throw validationRefusal([{ path: [], detail: fault }]);
  const { url: target = "", method = "", headers } = upgrade.request;
  const parameters = { walletKey };
  const { services } = dispatcher;
  const rejection = rejectionOf(services, routes.streamWallet, parameters, upgrade.socket);
  if (rejection !== null) throw rejection;
  const request = { method, target, headers, body: null, parameters };
  const authorized = await authorize(dispatcher, "streamWallet", request, upgrade);
  const { caller, ledger, callerKey, query } = authorized;
  assert(
    ledger !== null && callerKey !== null,
    "a wallet key that passed names a wallet of a ledger",
  );
  return new WalletStream(hub, counts, {
    ledgerId: ledger.ledgerId,
    callerKey,
    since: query.since,
    isApiKeyLive: () => dispatcher.authenticator.isLive(caller.apiKey),
  });
}
