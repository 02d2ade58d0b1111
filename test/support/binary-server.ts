// The built binary serving a fresh test database, and the environment in which commands find it.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { openBooks, type OpenBooks } from "./books.ts";
import { createTestDatabase } from "./database.ts";
import { freePort } from "./free-port.ts";
import { startServerProcess, type ServerProcess } from "./server-process.ts";

export interface BinaryServer {
  readonly url: string;
  readonly ledgerId: string;
  readonly organizationId: string;
  /** A folder of this server's own; HOME of its commands. */
  readonly home: string;
  /** Sets scenes with the rights that commands have. */
  readonly client: LedgerClient;
  /** Its books, for what an operator does. */
  readonly books: OpenBooks;
  /** Where commands find the service and its database. */
  readonly env: Readonly<Record<string, string>>;
  /** SIGTERM, and the same server again on the same port. */
  restart(pause: () => Promise<void>): Promise<void>;
  /** SIGTERM; then everything it had is removed. Resolves with the server's exit code. */
  stop(): Promise<number | null>;
}

/** Starts `serve --bootstrap`, with its USD ledger and starter chart; `variables` are settings of the server besides. */
export async function startBinaryServer(
  variables: Readonly<Record<string, string>> = {},
): Promise<BinaryServer> {
  const database = await createTestDatabase();
  const home = mkdtempSync(join(tmpdir(), "ledgerctl-cli-"));
  const masterKey = randomBytes(32);
  const databaseEnv = {
    HOME: home,
    LEDGERCTL_DATABASE_URL: database.url,
    LEDGERCTL_MASTER_KEY: masterKey.toString("base64"),
  };
  const start = (port: string): Promise<ServerProcess> =>
    startServerProcess({
      args: ["--bootstrap", "--port", port],
      env: { ...databaseEnv, ...variables, XDG_CONFIG_HOME: join(home, "server") },
    });
  let server = await start(String(await freePort()));
  const { organizationId, ledgerId, apiKey, apiSecret } = server.made;
  if (!organizationId || !ledgerId || !apiKey || !apiSecret) throw new Error("nothing was made");
  const { url } = server;
  const client = new LedgerClient({ url, apiKey, apiSecret });
  const books = await openBooks(database.url, masterKey, organizationId);
  return {
    url,
    ledgerId,
    organizationId,
    home,
    client,
    books,
    env: {
      ...databaseEnv,
      LEDGERCTL_URL: url,
      LEDGERCTL_API_KEY: apiKey,
      LEDGERCTL_API_SECRET: apiSecret,
      LEDGERCTL_LEDGER: ledgerId,
    },
    restart: async (pause) => {
      await server.end("SIGTERM");
      await pause();
      server = await start(new URL(url).port);
    },
    stop: async () => {
      await client.close();
      await books.pool.end();
      const code = await server.end("SIGTERM");
      await database.drop();
      rmSync(home, { recursive: true });
      return code;
    },
  };
}
