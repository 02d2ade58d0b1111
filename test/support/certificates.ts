// Certificates of the tests. `chain.pem` is for localhost and 127.0.0.1, signed by an authority that authority.pem
// signed; `expired.pem` and `future.pem` have its key; `other.pem` is for ledger.example.com.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { once } from "node:events";

export function certificateFile(name: string): string {
  return fileURLToPath(new URL(`tls/${name}`, import.meta.url));
}

const readCertificate = (name: string) => readFileSync(certificateFile(name), "utf8");

export const authority = readCertificate("authority.pem");
export const certificate = {
  cert: readCertificate("chain.pem"),
  key: readCertificate("chain-key.pem"),
};
export const otherCertificate = {
  cert: readCertificate("other.pem"),
  key: readCertificate("other-key.pem"),
};

export interface TlsConnection {
  readonly socket: TLSSocket;
  /** All that has come, by answers. */
  readonly answers: () => string[];
}

/** Opens an encrypted connection to this machine, which checks the certificate; rejects where there is none. */
export async function openTls(
  port: number,
  options: ConnectionOptions & { allowHalfOpen?: boolean } = {},
): Promise<TlsConnection> {
  const socket = connect({ port, host: "127.0.0.1", ca: authority, ...options });
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  await once(socket, "secureConnect");
  socket.on("error", () => undefined);
  return {
    socket,
    answers: () => text.split(/(?=HTTP\/1\.1 )/).filter((part) => part !== ""),
  };
}
