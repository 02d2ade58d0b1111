// Ports of loopback that stay free.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port for a server that is started later, or again. It lies below those that systems give to connections: one of
 * these could take it meanwhile, even that of a client which tries to reach it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const listener = createServer().listen(port, "127.0.0.1");
    try {
      await once(listener, "listening");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") continue;
      throw error;
    }
    listener.close();
    await once(listener, "close");
    return port;
  }
}
