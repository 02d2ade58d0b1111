// Two servers of one database that deliver to receivers of this machine, and a client of the first with the scope admin.
import { randomBytes } from "node:crypto";
import {
  LedgerClient,
  type Delivery,
  type DeliveryInput,
  type SignedHttpOptions,
} from "../../src/client/ledger-client.ts";
import { defaultScopes } from "../../src/core/ledger.ts";
import { openBooks, type OpenBooks } from "./books.ts";
import { certificateFile } from "./certificates.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import type { Receiver } from "./receiver.ts";
import { startServerProcess, type ServerProcess } from "./server-process.ts";

export interface DeliveringServers {
  readonly database: TestDatabase;
  readonly books: OpenBooks;
  readonly client: LedgerClient;
  /** Of commands. */
  readonly env: Record<string, string>;
  /** All that run, the first of which the client talks to. */
  readonly servers: ServerProcess[];
  /** Of the key, for a client of another server. */
  connectionTo(server: ServerProcess): SignedHttpOptions;
  startServer(args?: readonly string[]): Promise<ServerProcess>;
  /** Kills the last server with SIGKILL and starts another in its place. */
  replaceLast(): Promise<void>;
  /** Makes a delivery of entries, unless other events are named, to a receiver. */
  deliverTo(receiver: Receiver, ledgerId: string, more?: Partial<DeliveryInput>): Promise<Delivery>;
  find(ledgerId: string, deliveryId: string): Promise<Delivery>;
  end(): Promise<void>;
}

/** Receivers are on this machine. */
const serving = ["--allow-private-deliveries", "--port", "0"];

export async function startDeliveringServers(): Promise<DeliveringServers> {
  const masterKey = randomBytes(32);
  const database = await createTestDatabase();
  const startServer = (args: readonly string[] = serving) => {
    const env = {
      LEDGERCTL_DATABASE_URL: database.url,
      LEDGERCTL_MASTER_KEY: masterKey.toString("base64"),
      NODE_EXTRA_CA_CERTS: certificateFile("authority.pem"),
    };
    return startServerProcess({ args, env });
  };
  const servers = [await startServer(), await startServer()];
  const books = await openBooks(database.url, masterKey);
  const key = await books.createKey({ scopes: [...defaultScopes, "admin"] });
  const url = servers[0]?.url ?? "";
  const client = new LedgerClient({ url, ...key });
  return {
    ...{ database, books, client, servers, startServer },
    env: {
      LEDGERCTL_DATABASE_URL: database.url,
      LEDGERCTL_URL: url,
      LEDGERCTL_API_KEY: key.apiKey,
      LEDGERCTL_API_SECRET: key.apiSecret,
    },
    connectionTo: (server) => ({ url: server.url, ...key }),
    replaceLast: async () => {
      await servers.at(-1)?.end("SIGKILL");
      servers[servers.length - 1] = await startServer();
    },
    deliverTo: async (receiver, ledgerId, more = {}) => {
      const events: DeliveryInput["events"] = ["entry"];
      const made = await client.createDelivery(ledgerId, { url: receiver.url, events, ...more });
      receiver.secret = made.secret ?? "";
      return made;
    },
    find: async (ledgerId, deliveryId) => {
      const found = (await client.listDeliveries(ledgerId)).find(({ id }) => id === deliveryId);
      if (found === undefined) throw new Error("the delivery is not there");
      return found;
    },
    end: async () => {
      await client.close();
      for (const server of servers) await server.end("SIGTERM");
      await books.pool.end();
      await database.drop();
    },
  };
}
