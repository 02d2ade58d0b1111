// With synchronous replication nothing is delivered that the standby may lack, although whoever reads the primary sees it: a
// real primary, a real standby, two servers of the built program, a real receiver.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { defaultScopes } from "../../src/core/ledger.ts";
import { openBooks, type OpenBooks } from "../support/books.ts";
import { certificateFile } from "../support/certificates.ts";
import { runStatement } from "../support/database.ts";
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import { onceEach, openReceiver } from "../support/receiver.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { startWithStandby, urlWithName, waitingProcesses } from "../support/synchronous-standby.ts";
import { until } from "../support/until.ts";

const masterKey = randomBytes(32);
let primary: PostgresCluster;
let standby: PostgresCluster;
let books: OpenBooks;
let servers: ServerProcess[];
let clients: LedgerClient[];

beforeAll(async () => {
  ({ primary, standby } = await startWithStandby());
  books = await openBooks(primary.url, masterKey);
  servers = [await startServer("writing"), await startServer("other")];
  const key = await books.createKey({ scopes: [...defaultScopes, "admin"] });
  clients = servers.map(({ url }) => new LedgerClient({ url, ...key, retryForMs: 0 }));
});

afterAll(async () => {
  for (const client of clients) await client.close();
  for (const server of servers) await server.end("SIGTERM");
  await books.pool.end();
  await primary.remove(standby);
});

/** A server whose sessions have a name on the primary. */
function startServer(name: string): Promise<ServerProcess> {
  const env = {
    LEDGERCTL_DATABASE_URL: urlWithName(primary, name),
    LEDGERCTL_MASTER_KEY: masterKey.toString("base64"),
    LEDGERCTL_POST_INTERVAL_MS: "600000",
    NODE_EXTRA_CA_CERTS: certificateFile("authority.pem"),
  };
  return startServerProcess({ args: ["--allow-private-deliveries", "--port", "0"], env });
}

const waitingWriters = () => waitingProcesses(primary, "writing");

it("delivers entries and wallet writes whose COMMIT was cut off while it waited only once the standby has them", async () => {
  const [writing, other] = clients as [LedgerClient, LedgerClient];
  const ledgerId = await books.createLedger();
  const wallet = { ledgerId, callerKey: "a" };
  const receiver = await openReceiver();
  const events: ("entry" | "wallet")[] = ["entry", "wallet"];
  const made = await other.createDelivery(ledgerId, { url: receiver.url, events });
  receiver.secret = made.secret ?? "";
  await writing.creditWallet(wallet, { amount: "1", assetCode: "USD" });
  await receiver.reach(1);
  await until("its cursor", async () => (await other.listDeliveries(ledgerId))[0]?.walletLag === 0);

  await standby.stop();
  const probes = await until("a probe that waits", async () => {
    const found = await waitingWriters();
    return found.length > 0 && found;
  });
  const entry = {
    lines: [
      { glAccountCode: "1000", functionalAmount: "7" },
      { glAccountCode: "4000", functionalAmount: "-7" },
    ],
  };
  const sent = Promise.allSettled([
    writing.postEntry(ledgerId, entry),
    writing.creditWallet(wallet, { amount: "2", assetCode: "USD" }),
  ]);
  await until("them to be cut off and seen", async () => {
    // The first to wait may be of a lease on the delivery.
    const waiting = (await waitingWriters()).filter((pid) => !probes.includes(pid));
    await runStatement(primary.url, "SELECT pg_terminate_backend(unnest($1::int[]))", [waiting]);
    const { total } = await other.listEntries(ledgerId);
    return total === 1 && (await other.getWalletBalance(wallet)).balance === "3";
  });
  for (const { url } of servers) {
    await until("no server to be ready", async () => (await fetch(`${url}/readyz`)).status === 503);
  }
  expect(receiver.events).toHaveLength(1);

  await standby.start();
  await until("both", () => onceEach(receiver.events).length === 3);
  const late = onceEach(receiver.events).slice(1);
  expect(late.sort((one, two) => one.type.localeCompare(two.type))).toMatchObject([
    { type: "entry", cursor: "1.0" },
    { type: "wallet", cursor: "2", data: { seq: 2, amount: "2" } },
  ]);
  await sent;
  await receiver.goAway();
});
