// /readyz is true: it says no where a write would fail, why, and what to do; and yes again once it would succeed.
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { command } from "../../src/store/database/statement.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openBooks } from "../support/books.ts";
import { standInForCitus } from "../support/citus-stand-in.ts";
import { isCluster } from "../support/cluster.ts";
import { openCuttingProxy } from "../support/cutting-proxy.ts";
import { runStatement } from "../support/database.ts";
import { neverPosting } from "../support/engine.ts";
import { entriesPath, entry, postEntry } from "../support/entries.ts";
import { sampleOf } from "../support/metrics.ts";
import { PostgresCluster } from "../support/postgres-cluster.ts";
import { serveBooks, startService, type TestService } from "../support/service.ts";
import { mayMountDisks, SmallDisk } from "../support/small-disk.ts";
import { until } from "../support/until.ts";

const service = serveBooks();

interface ReadyBody {
  readonly status: string;
  readonly reason: string | null;
  readonly nodesDown: readonly string[];
}

function notReady(asked: TestService, reason: string): Promise<ReadyBody> {
  return until(`a reason that names ${reason}`, async () => {
    const reply = await asked.get("/readyz");
    const body = reply.body as ReadyBody;
    return reply.status === 503 && (body.reason ?? "").includes(reason) && body;
  });
}

async function readyAgain(asked: TestService): Promise<void> {
  await until("ready", async () => (await asked.get("/readyz")).status === 200);
}

async function metric(name: string, labels: Record<string, string> = {}): Promise<number | null> {
  return sampleOf((await service.get("/metrics")).text, name, labels);
}

test("a table that is missing or locked is told of, in the metrics too", async () => {
  const { databaseUrl, pool } = service.books;
  expect(await metric("ledgerctl_ready")).toBe(1);
  await runStatement(databaseUrl, "ALTER TABLE commit_probes RENAME TO elsewhere");
  await notReady(service, "ledgerctl migrate");
  expect(await metric("ledgerctl_ready")).toBe(0);
  await runStatement(databaseUrl, "ALTER TABLE elsewhere RENAME TO commit_probes");
  await readyAgain(service);
  await pool.transaction(async (transaction) => {
    await transaction.run(command`LOCK TABLE commit_probes IN EXCLUSIVE MODE`);
    await notReady(service, "locks the table commit_probes");
  });
  await readyAgain(service);
});

test("probes update a row or two, however many there are", async () => {
  const probes =
    "SELECT FROM pg_stat_user_tables WHERE relname = 'commit_probes' AND n_tup_upd > 4";
  await until("several probes", () => runStatement(service.books.databaseUrl, probes));
  const rows = await runStatement(service.books.databaseUrl, "SELECT FROM commit_probes");
  expect(rows).toBeGreaterThan(0);
  expect(rows).toBeLessThan(5);
});

// What stands in for Citus has the names of what is there already where Citus is.
test.skipIf(isCluster)(
  "a worker node of Citus that is down is told of, and the server stays ready",
  async () => {
    await standInForCitus(service.books.databaseUrl);
    const body = await until("the node to be found down", async () => {
      const reply = await service.get("/readyz");
      const { nodesDown } = reply.body as ReadyBody;
      return nodesDown.length > 0 && reply.body;
    });
    expect(body).toEqual({ status: "ready", reason: null, nodesDown: ["10.0.0.8:5433"] });
    expect(await metric("ledgerctl_database_node_up", { node: "10.0.0.7:5432" })).toBe(1);
    expect(await metric("ledgerctl_database_node_up", { node: "10.0.0.8:5433" })).toBe(0);
    await postEntry(service, entry());
  },
);

test("connections that are lost without a word are replaced", async () => {
  const proxy = await openCuttingProxy(service.books.databaseUrl);
  const served = await startService(service.books, { databaseUrl: proxy.url, ...neverPosting });
  await readyAgain(served);
  proxy.strand();
  await notReady(served, "does not answer");
  await readyAgain(served);
  await served.stop();
  await proxy.close();
});

test.skipIf(!mayMountDisks)("a full disk is told of until there is space again", async () => {
  const home = await mkdtemp(join(tmpdir(), "ledgerctl-disk-"));
  await chmod(home, 0o755);
  const disk = await SmallDisk.mount(join(home, "disk"), "160m");
  const cluster = await PostgresCluster.create(disk.directory);
  try {
    await cluster.start();
    await migrate(cluster.url);
    const opened = await openBooks(cluster.url, randomBytes(32));
    const books = {
      ...opened,
      credentials: await opened.createKey(),
      ledgerId: await opened.createLedger(),
      drop: () => opened.pool.end(),
    };
    const served = await startService(books, neverPosting);
    await readyAgain(served);
    await disk.fill();
    await notReady(served, "disk is full");
    await disk.free();
    await readyAgain(served);
    expect((await served.post(entriesPath(books.ledgerId), entry())).status).toBe(201);
    await served.stop();
    await books.drop();
  } finally {
    await cluster.remove();
    await disk.unmount();
    await rm(home, { recursive: true });
  }
});
