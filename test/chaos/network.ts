// A TCP proxy that a connection can be lost in: for both of its ends, or for the one that opened it alone.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface Network {
  /** Where it accepts connections, on 127.0.0.1. */
  readonly port: number;
  /** Cuts every connection at both ends. */
  cut(): void;
  /** Cuts every connection, and does not tell the far end, for which it stays open until `remember`. */
  forget(): void;
  /** Lets the far ends know. */
  remember(): void;
  close(): void;
}

/** Forwards to a port of 127.0.0.1; a connection is cut when nobody listens there. */
export async function openNetwork(toPort: number): Promise<Network> {
  const connections = new Map<Socket, Socket>();
  const forgotten = new Set<Socket>();
  const listener = createServer((near) => {
    const far = connect(toPort, "127.0.0.1");
    connections.set(near, far);
    const endBoth = () => {
      connections.delete(near);
      near.destroy();
      if (!forgotten.has(far)) far.destroy();
    };
    for (const socket of [near, far]) {
      socket.setNoDelay(true).on("error", endBoth).on("close", endBoth);
    }
    near.on("data", (chunk) => far.write(chunk));
    far.on("data", (chunk) => {
      if (!near.destroyed) near.write(chunk);
    });
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const remember = () => {
    for (const far of forgotten) far.destroy();
    forgotten.clear();
  };
  const cut = () => {
    for (const near of connections.keys()) near.destroy();
  };
  return {
    port: (listener.address() as AddressInfo).port,
    cut,
    forget: () => {
      for (const far of connections.values()) forgotten.add(far);
      cut();
    },
    remember,
    close: () => {
      listener.close();
      cut();
      remember();
    },
  };
}
