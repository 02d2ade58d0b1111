// TLS below HTTP (RFC 8446): the handshake of each connection, and the certificate that it shows. The HTTP server
// accepts the connections itself and gets each one back when its handshake is done.
import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { createServer, type Server, type TlsOptions, type TLSSocket } from "node:tls";
import { keyExchangeGroups } from "../core/key-exchange.ts";

/** A certificate, with those of the authorities between it and a root, and its private key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** How long a handshake may take, the wait for its first byte included. */
const handshakeMsMax = 10_000;
/** The type of the record that every handshake begins with (RFC 8446, section 5.1). */
const handshakeRecord = 22;

interface Handshake {
  readonly onDone: (encrypted: TLSSocket) => void;
  readonly late: NodeJS.Timeout;
}

export class TlsHandshakes {
  /** Never listens: connections are handed to it. */
  readonly #server: Server;
  /** By the addresses of both ends: nothing else is known of the plain socket and of the encrypted one. */
  readonly #underWay = new Map<string, Handshake>();

  constructor(certificate: Certificate) {
    this.#server = createServer(optionsOf(certificate));
    this.#server.on("secureConnection", (encrypted) => {
      const ends = endsOf(encrypted);
      const handshake = this.#underWay.get(ends);
      if (handshake === undefined) {
        encrypted.destroy();
        return;
      }
      this.#underWay.delete(ends);
      clearTimeout(handshake.late);
      handshake.onDone(encrypted);
    });
    this.#server.on("tlsClientError", (_error, encrypted) => {
      encrypted.destroy();
    });
  }

  /** Later handshakes show another certificate; connections that there are keep theirs. Throws where it is unusable. */
  useCertificate(certificate: Certificate): void {
    this.#server.setSecureContext(optionsOf(certificate));
  }

  /**
   * Does the handshake on a new connection. One that takes too long or fails ends the connection; one that does not
   * begin as TLS is handed to `onPlain`, with its first bytes.
   */
  begin(
    socket: Socket,
    onDone: (encrypted: TLSSocket) => void,
    onPlain: (opening: Buffer) => void,
  ): void {
    const ends = endsOf(socket);
    const late = setTimeout(() => socket.destroy(), handshakeMsMax);
    const handshake: Handshake = { onDone, late };
    this.#underWay.set(ends, handshake);
    const destroy = () => socket.destroy();
    socket.on("error", destroy).on("end", destroy);
    socket.once("close", () => {
      clearTimeout(late);
      // The next connection may have the same ends.
      if (this.#underWay.get(ends) === handshake) this.#underWay.delete(ends);
    });
    socket.once("data", (opening: Buffer) => {
      socket.off("end", destroy);
      if (opening[0] !== handshakeRecord) {
        clearTimeout(late);
        onPlain(opening);
        return;
      }
      socket.pause();
      socket.unshift(opening);
      this.#server.emit("connection", socket);
    });
  }
}

/** Throws what is wrong with a certificate, where no server could show it. */
export function requireUsable(certificate: Certificate): void {
  createServer(optionsOf(certificate));
}

function optionsOf({ cert, key }: Certificate): TlsOptions {
  return {
    cert,
    key,
    minVersion: "TLSv1.2",
    ecdhCurve: keyExchangeGroups,
    ALPNProtocols: ["http/1.1"],
    // A client could otherwise make the server work by asking for one handshake after another.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress ?? ""} ${remotePort ?? ""} ${localAddress ?? ""}`;
}
