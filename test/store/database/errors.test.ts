// Whether the database is out of reach is told by where an error comes from, not by the code it carries.
import { readFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exitCodeOf, exitCodes } from "../../../src/cli/failure.ts";
import { whenReachable } from "../../../src/server/database.ts";
import { Refusal } from "../../../src/core/errors.ts";
import { asRefusal } from "../../../src/http/problems.ts";
import {
  AmbiguousCommit,
  ConnectionBroken,
  isConnectionLost,
  isTransient,
  isUnavailable,
} from "../../../src/store/database/errors.ts";
import { migrate } from "../../../src/store/migrate.ts";
import type { Transaction } from "../../../src/store/database/pipeline.ts";
import { Pool } from "../../../src/store/database/pool.ts";
import { hasApiKeys } from "../../../src/store/api-keys.ts";
import { command } from "../../../src/store/database/statement.ts";
import { openCuttingProxy, type CuttingProxy } from "../../support/cutting-proxy.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

async function failureOf(act: () => Promise<unknown>): Promise<unknown> {
  return act().then(
    () => {
      throw new Error("this was to fail");
    },
    (error: unknown) => error,
  );
}

/** A port of this machine on which nobody listens. */
async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function reachNobody(): Promise<void> {
  const socket = connect(await unusedPort(), "127.0.0.1");
  await new Promise((_, reject) => socket.on("error", reject));
}

function openConnections(databaseUrl: string): Pool {
  return new Pool({
    databaseUrl,
    connectionsMax: 2,
    lockTimeoutMs: 1_000,
    answerTimeoutMs: 10_000,
  });
}

describe("an error that does not come from the database's connection", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["ENOENT", () => readFile("/nowhere/at/all")],
    ["ECONNREFUSED", reachNobody],
    ["EPIPE", () => Promise.reject(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }))],
    ["57P03", () => Promise.reject(Object.assign(new Error("not pg's"), { code: "57P03" }))],
  ])("says nothing about the database: %s", async (code, act) => {
    const error = await failureOf(act);
    expect(error).toMatchObject({ code });
    expect([isConnectionLost(error), isUnavailable(error), isTransient(error)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(asRefusal(error).problem).toBe("internal");
    expect(exitCodeOf(await failureOf(() => whenReachable(act)))).toBe(exitCodes.failed);
  });
});

test("an outcome that is unknown because a connection broke is not answered as certainly not written", () => {
  const cause = new AmbiguousCommit(new ConnectionBroken("cut"));
  const unknown = new Refusal("outcomeUnknown", "whether it was closed is not known", { cause });
  expect(isUnavailable(unknown)).toBe(true);
  expect(asRefusal(unknown).problem).toBe("outcomeUnknown");
});

describe("a database that is not there", () => {
  const ways: [string, (url: string) => Promise<unknown>][] = [
    ["a pool", (url) => hasApiKeys(openConnections(url))],
    ["a connection", (url) => openConnections(url).withConnection(hasApiKeys)],
    ["a transaction", (url) => openConnections(url).transaction(async () => 1)],
    ["migrations", (url) => migrate(url)],
  ];

  test.each(ways)("is unavailable, and says why, through %s", async (_, act) => {
    const port = await unusedPort();
    for (const host of ["127.0.0.1", "%2Fnowhere"]) {
      const error = await failureOf(() => act(`postgresql://a:b@${host}:${port}/c`));
      expect([isConnectionLost(error), isTransient(error)]).toEqual([true, true]);
      expect(asRefusal(error).problem).toBe("unavailable");
      const told = await failureOf(() => whenReachable(() => Promise.reject(error as Error)));
      expect(exitCodeOf(told)).toBe(exitCodes.unavailable);
      expect((told as Error).message).toMatch(
        /can't be used: (connect ECONNREFUSED|there is no socket)/,
      );
    }
  });
});

describe("a transaction", () => {
  let database: TestDatabase;
  let proxy: CuttingProxy;
  let connections: Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await openCuttingProxy(database.url);
    connections = openConnections(proxy.url);
  });
  afterAll(async () => {
    await connections.end();
    await proxy.close();
    await database.drop();
  });

  async function inTransaction(work: (transaction: Transaction) => Promise<void>) {
    await connections.withConnection((connection) => work(connection.begin()));
  }

  const bug = () => Promise.reject(Object.assign(new Error("a bug of ours"), { code: "ERR_OURS" }));

  test("whose COMMIT is lost is not taken for undone because something else failed too", async () => {
    const cut = proxy.cutNext("afterCommit");
    const error = await failureOf(() =>
      inTransaction((transaction) => transaction.commit([bug()])),
    );
    await cut;
    expect(error).toBeInstanceOf(AmbiguousCommit);
  });

  test("that the database refused is undone for certain, even if COMMIT is lost", async () => {
    const cut = proxy.cutNext("beforeCommit");
    const error = await failureOf(() =>
      inTransaction(async (transaction) => {
        const refused = transaction.run(command`SELECT 1 / 0`);
        await refused.catch(() => undefined);
        await transaction.commit([refused]);
      }),
    );
    await cut;
    expect(error).toMatchObject({ code: "22012" });
  });
});
