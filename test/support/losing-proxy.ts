// A proxy in front of the service that loses answers: their connections are cut before the client sees them.
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface LosingProxy {
  readonly url: string;
  /** Answers to come that the client will not see. */
  answersToLose: number;
  /** What the client was sent. */
  bytesToClient: number;
  close(): void;
}

export async function openLosingProxy(port: number): Promise<LosingProxy> {
  const server = createServer((socket: Socket) => {
    const upstream = connect(port, "127.0.0.1");
    const cut = () => {
      socket.destroy();
      upstream.destroy();
    };
    for (const each of [socket, upstream]) each.on("error", cut).on("close", cut);
    socket.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => {
      if (proxy.answersToLose > 0) {
        proxy.answersToLose -= 1;
        cut();
        return;
      }
      proxy.bytesToClient += chunk.length;
      if (!socket.write(chunk)) upstream.pause();
    });
    socket.on("drain", () => upstream.resume());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: LosingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answersToLose: 0,
    bytesToClient: 0,
    close: () => server.close(),
  };
  return proxy;
}
