// Lanes that write to the node of a cluster that has their ledger, past the coordinator. Where the tests' server coordinates
// no cluster (docs/operations.md, Citus), only that none is looked for.
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LedgerNodes, type LedgerShard } from "../../src/engine/ledger-nodes.ts";
import { openNodePool } from "../../src/server/pools.ts";
import { findShardId, lockShard, type CitusNode } from "../../src/store/citus-nodes.ts";
import { urlOfHost } from "../../src/store/database/connection-url.ts";
import { LedgerMoved } from "../../src/store/database/errors.ts";
import { lockLedgerStateShared, upsertStateRequest } from "../../src/store/ledger-states.ts";
import { isCluster } from "../support/cluster.ts";
import { runStatement } from "../support/database.ts";
import { openEngine } from "../support/engine.ts";
import { entriesPath, entry, listEntries } from "../support/entries.ts";
import { createBooks, startService, type TestBooks } from "../support/service.ts";
import { until } from "../support/until.ts";
import { movement, newKey, walletPath } from "../support/wallets.ts";

let books: TestBooks;
let coordinator: Client;

beforeAll(async () => {
  books = await createBooks();
  coordinator = new Client({ connectionString: books.databaseUrl });
  await coordinator.connect();
});

afterAll(async () => {
  await coordinator.end();
  await books.drop();
});

/** A node that is not written to. */
interface NodeRefusal {
  readonly address: string;
  readonly error: unknown;
}

/** What finds the nodes of ledgers in the books, as a service does; failures are thrown at its end. */
function openNodes(
  openPool = (node: CitusNode, at: string) => openNodePool(books.databaseUrl, node, at, 2),
) {
  const failures: unknown[] = [];
  const refusals: NodeRefusal[] = [];
  const nodes = new LedgerNodes(books.pool, {
    intervalMs: 50,
    openPool,
    onRefused: (address, error) => refusals.push({ address, error }),
    onFailure: (error) => failures.push(error),
    onSuccess: () => undefined,
  });
  nodes.start();
  const stop = async () => {
    await nodes.stop();
    await nodes.end();
    expect(failures).toEqual([]);
  };
  return { nodes, refusals, stop };
}

const find = (nodes: LedgerNodes, ledgerId: string): Promise<LedgerShard> =>
  until("the node of a ledger is found", () => nodes.find(ledgerId));

/** The worker that has a ledger, and another one. */
async function findPlaces(ledgerId: string) {
  const shardId = await findShardId(books.pool, ledgerId);
  const { rows } = await coordinator.query<CitusNode & { hasLedger: boolean }>(
    `SELECT nodename AS name, nodeport AS port,
            groupid IN (SELECT groupid FROM pg_dist_placement WHERE shardid = $1) AS "hasLedger"
       FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary'`,
    [shardId],
  );
  const from = rows.find(({ hasLedger }) => hasLedger);
  const to = rows.find(({ hasLedger }) => !hasLedger);
  if (from === undefined || to === undefined) throw new Error("a cluster has two workers");
  return { shardId, from, to };
}

/** Resolves when the worker that has the books' ledger is refused; after moves the others may have none. */
async function findRefusal(refusals: readonly NodeRefusal[]): Promise<NodeRefusal> {
  const { from } = await findPlaces(books.ledgerId);
  const address = `${from.name}:${from.port}`;
  return until("the ledger's node is met", () => refusals.find((each) => each.address === address));
}

/** Moves a ledger to another worker; which that is. */
async function moveLedger(ledgerId: string, mode = "block_writes"): Promise<CitusNode> {
  const { shardId, from, to } = await findPlaces(ledgerId);
  await until("a shard is moved", () =>
    runStatement(books.databaseUrl, "SELECT citus_move_shard_placement($1, $2, $3, $4, $5, $6)", [
      shardId,
      from.name,
      from.port,
      to.name,
      to.port,
      mode,
    ]).catch((error: unknown) => {
      // Citus refuses a move while a session still has what an earlier one left there, with no code of its own.
      if (!String(error).includes("could not be cleaned up")) throw error;
    }),
  );
  return to;
}

const urlOf = (node: CitusNode) => urlOfHost(books.databaseUrl, node);

const writers = `FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'ledgerctl write'`;
const waitingForShards = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const endWriters = `SELECT pg_terminate_backend(pid) ${writers}`;

/** How many connections for writing a worker has in the books' database. */
const countWriters = (node: CitusNode) => runStatement(urlOf(node), `SELECT ${writers}`);

describe.skipIf(isCluster)("on one machine", () => {
  test("no nodes are looked for", async () => {
    const { nodes, refusals, stop } = openNodes();
    expect(nodes.find(books.ledgerId)).toBeNull();
    await stop();
    expect([nodes.pools.size, refusals.length]).toEqual([0, 0]);
  });
});

describe.runIf(isCluster)("on a cluster", () => {
  test("a service writes to the node that has the ledger, while that moves and connections are lost", async () => {
    const service = await startService(books);
    const key = newKey(service);
    const before = await findPlaces(books.ledgerId);
    let writes = 0;
    let isOver = false;
    let isMoving = false;
    // As clients do: what is refused while a move blocks writes for long is sent again, and counts once.
    const write = (path: string, body: object) => {
      const externalId = randomUUID();
      return until("the write is accepted", async () => {
        const wasMoving = isMoving;
        const { status, text } = await service.post(path, { ...body, externalId });
        if (status === 503 && (wasMoving || isMoving)) return false;
        expect(status, text).toBeLessThan(300);
        return true;
      });
    };
    const keepWriting = async () => {
      while (!isOver) {
        await write(walletPath(key, "credit"), movement(1));
        await write(entriesPath(books.ledgerId), entry());
        writes += 1;
      }
    };
    const writing = Promise.all([keepWriting(), keepWriting()]);
    await until("lanes write to the node", () => countWriters(before.from));
    for (const mode of ["force_logical", "block_writes"]) {
      isMoving = true;
      const there = await moveLedger(books.ledgerId, mode);
      isMoving = false;
      await until("lanes write to the other node", () => countWriters(there));
    }
    for (let cut = 0; cut < 10; cut += 1) {
      for (const node of [before.from, before.to]) await runStatement(urlOf(node), endWriters);
      await sleep(50);
    }
    isOver = true;
    await writing;
    expect((await service.get(walletPath(key, "balance"))).body).toMatchObject({
      balance: String(writes),
    });
    const entries = await listEntries(service, "?glAccountCode=1000", books.ledgerId);
    expect(entries.total).toBe(writes);
    await service.stop();
    const engine = openEngine(books.databaseUrl);
    expect(await engine.failingChecks(books.ledgerId)).toEqual([]);
    await engine.end();
  });

  test("a locked shard moves when the transaction has ended; then the old node refuses its lock", async () => {
    const ledgerId = await books.createLedger();
    const { nodes, stop } = openNodes();
    const shard = await find(nodes, ledgerId);
    const { from, to } = await findPlaces(ledgerId);
    const connection = await shard.pool.borrow();
    const transaction = connection.begin(shard.names);
    await lockShard(transaction, shard.id);
    let hasMoved = false;
    const moving = moveLedger(ledgerId).then(() => {
      hasMoved = true;
    });
    await until("the move waits for the shard", () => runStatement(urlOf(from), waitingForShards));
    await upsertStateRequest(transaction, ledgerId, 0);
    expect(hasMoved).toBe(false);
    await transaction.commit([]);
    await moving;
    expect((await findPlaces(ledgerId)).from).toMatchObject({ name: to.name, port: to.port });
    expect(
      await runStatement(
        books.databaseUrl,
        "SELECT FROM ledger_state_requests WHERE ledger_id = $1",
        [ledgerId],
      ),
    ).toBe(1);
    const late = connection.begin(shard.names);
    await expect(lockShard(late, shard.id)).rejects.toThrow(LedgerMoved);
    await late.rollBack();
    shard.pool.giveBack(connection);
    nodes.forget(shard);
    expect((await find(nodes, ledgerId)).pool).not.toBe(shard.pool);
    await stop();
  });

  test("a ledger whose state is locked through the coordinator moves when the transaction has ended", async () => {
    const ledgerId = await books.createLedger();
    const { from, to } = await findPlaces(ledgerId);
    let hasMoved = false;
    let moving = Promise.resolve();
    await books.pool.transaction(async (transaction) => {
      expect(await lockLedgerStateShared(transaction, ledgerId)).toBe("active");
      moving = moveLedger(ledgerId).then(() => {
        hasMoved = true;
      });
      await until("the move waits for the ledger", () =>
        runStatement(books.databaseUrl, waitingForShards),
      );
      await upsertStateRequest(transaction, ledgerId, 0);
      expect(hasMoved).toBe(false);
    });
    await moving;
    expect((await findPlaces(ledgerId)).from).toMatchObject({ name: to.name, port: to.port });
    expect(from).not.toEqual(to);
  });

  test("a shard that was split is locked no more, and the ledger's new one is found", async () => {
    const ledgerId = await books.createLedger();
    const { nodes, stop } = openNodes();
    const { id, pool } = await find(nodes, ledgerId);
    await runStatement(
      books.databaseUrl,
      "SELECT isolate_tenant_to_new_shard('ledger_states', $1::uuid, 'CASCADE', 'block_writes')",
      [ledgerId],
    );
    const late = pool.transaction((transaction) => lockShard(transaction, id));
    await expect(late).rejects.toThrow(LedgerMoved);
    const isFound = () => {
      const shard = nodes.find(ledgerId);
      return shard !== null && shard.id !== id;
    };
    await until("the new shard", isFound);
    await stop();
  });

  test("another server under the name of a node is not written to", async () => {
    const { nodes, refusals, stop } = openNodes((node) =>
      openNodePool(books.databaseUrl, node, "1", 2),
    );
    const refusal = await findRefusal(refusals);
    expect(String(refusal.error)).toContain("it is another server than the coordinator has");
    expect(nodes.find(books.ledgerId)).toBeNull();
    await stop();
    expect(nodes.pools.size).toBe(0);
  });

  test("a role that does not own the tables writes through the coordinator", async () => {
    const role = `ledgerctl_test_${randomBytes(6).toString("hex")}`;
    // Citus makes it on each node.
    await runStatement(books.databaseUrl, `CREATE ROLE ${role}`);
    const url = `${books.databaseUrl}?options=-c%20role%3D${role}`;
    const { nodes, refusals, stop } = openNodes((node, at) => openNodePool(url, node, at, 2));
    const refusal = await findRefusal(refusals);
    expect(String(refusal.error)).toContain("the role does not own the tables");
    expect(nodes.find(books.ledgerId)).toBeNull();
    await stop();
    expect(nodes.pools.size).toBe(0);
    await runStatement(books.databaseUrl, `DROP ROLE ${role}`);
  });

  test("a node that can't be connected to is passed over until it can", async () => {
    const { nodes, stop } = openNodes();
    const shard = await find(nodes, books.ledgerId);
    nodes.passOver(shard.pool);
    expect(nodes.find(books.ledgerId)).toBeNull();
    const found = await find(nodes, books.ledgerId);
    expect(found.pool).not.toBe(shard.pool);
    await found.pool.transaction((transaction) => lockShard(transaction, found.id));
    await stop();
  });
});
