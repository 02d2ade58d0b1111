// `migrate --distribute`: books that grew on one machine, spread over the nodes of a cluster. Where the tests' server
// coordinates none (docs/operations.md, Citus), only that it is refused.
import { randomBytes, randomUUID } from "node:crypto";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { Pool } from "../../src/store/database/pool.ts";
import { distribute } from "../../src/store/distribution.ts";
import { readClock } from "../../src/store/journal-heads.ts";
import { listMigrationFiles, migrate } from "../../src/store/migrate.ts";
import { openBooks } from "../support/books.ts";
import { createEmptyCluster } from "../support/citus-cluster.ts";
import { documents, runCli } from "../support/cli.ts";
import {
  createTestDatabase,
  listNodes,
  runStatement,
  withDatabase,
  type TestDatabase,
} from "../support/database.ts";
import { entry } from "../support/entries.ts";
import { createBooks, startService } from "../support/service.ts";
import { forge } from "../support/tampering.ts";
import { accepted, expectDuplicate, move, newKey, walletPath } from "../support/wallets.ts";

const nodes = await listNodes();

const runOn = (database: TestDatabase, ...args: string[]) =>
  runCli(args, { env: { LEDGERCTL_DATABASE_URL: database.url } });

async function outputOf(database: TestDatabase, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runOn(database, ...args);
  expect(code, stderr).toBe(0);
  return stdout;
}

/** How each table is spread, and the triggers that it has. */
async function listParts({ url }: TestDatabase): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<object>(`
    SELECT relname, partmethod, repmodel,
           ARRAY(SELECT tgname || ' ' || tgfoid::regproc FROM pg_trigger
                  WHERE tgrelid = tables.oid AND NOT tgisinternal ORDER BY tgname) AS triggers
      FROM pg_class AS tables
      LEFT JOIN pg_dist_partition ON logicalrelid = tables.oid
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
     ORDER BY relname`);
  await client.end();
  return rows;
}

describe.runIf(nodes.length === 1)("on one machine", () => {
  it("is refused, and changes nothing", async () => {
    const database = await createTestDatabase();
    const { code, stderr } = await runOn(database, "migrate", "--distribute");
    expect(stderr).toContain("the database has no Citus");
    expect(code).toBe(7);
    expect((await runOn(database, "migrate", "--status", "--distribute")).code).toBe(2);
    await database.drop();
  });
});

describe.runIf(nodes.length > 1)("on a cluster", () => {
  it("keeps the books as they were, and their record of administration", async () => {
    const database = await createEmptyCluster();
    await migrate(database.url);
    const masterKey = randomBytes(32);
    const own = await openBooks(database.url, masterKey);
    const drop = () => own.pool.end();
    const books = {
      ...own,
      drop,
      credentials: await own.createKey(),
      ledgerId: await own.createLedger(),
    };
    const before = await startService(books);
    const { ledgerId } = books;
    const key = newKey(before);
    const entries = `/v1/ledgers/${ledgerId}/journal-entries`;
    expect((await before.post(entries, entry(100n, { externalId: "one" }))).status).toBe(201);
    accepted(await move(before, key, "credit", 7, { externalId: "two" }));
    await before.stop();
    const acts = documents<object>(await outputOf(database, "audit", "log", "--json"));

    expect((await runOn(database, "migrate", "--distribute")).stderr).toContain(
      "others are connected to the database",
    );
    await books.pool.end();
    const spread = JSON.parse(await outputOf(database, "migrate", "--distribute", "--json")) as {
      distributed: string[];
    };
    expect(spread.distributed).toContain("journal_entries");
    expect(await outputOf(database, "migrate", "--distribute")).toBe(
      "nothing to apply\nnothing to distribute\n",
    );

    const after = await startService({
      ...(await openBooks(database.url, masterKey, own.organizationId)),
      drop,
      credentials: books.credentials,
      ledgerId,
    });
    expect((await after.post(entries, entry(100n, { externalId: "one" }))).status).toBe(409);
    expectDuplicate(await move(after, key, "credit", 7, { externalId: "two" }), "7");
    accepted(await move(after, key, "debit", 5));
    expect((await after.post(entries, entry(1n))).status).toBe(201);
    expect((await after.get(walletPath(key, "balance"))).body).toMatchObject({ balance: "2" });
    await after.stop();
    await after.books.pool.end();
    const contents = (act: object) => ({ ...act, number: 0, hash: "" });
    expect(
      documents<object>(await outputOf(database, "audit", "log", "--json")).map(contents),
    ).toEqual(expect.arrayContaining(acts.map(contents)));
    await outputOf(database, "audit");
    await database.drop();
  });

  it("is told who did what on each node", async () => {
    const database = await createTestDatabase();
    const org = (await outputOf(database, "org", "create", "Acme", "--quiet")).trim();
    const making = ["ledger", "create", "Books", "--org", org, "--currency", "USD", "--quiet"];
    const ledger = (await outputOf(database, ...making)).trim();
    await outputOf(database, "account", "add", "1000", "Cash", "--ledger", ledger);
    await outputOf(database, "account", "deactivate", "1000", "--ledger", ledger);
    await outputOf(database, "ledger", "suspend", ledger);
    const acts = documents<{ operator: string | null; program: string; kind: string }>(
      await outputOf(database, "audit", "log", "--json"),
    );
    expect(acts.filter(({ kind }) => kind === "changed")).toHaveLength(2);
    const by = acts.map(({ operator, program }) => `${operator} ${program}`);
    expect(new Set(by).size, by.join("\n")).toBe(1);
    expect(by[0]).toMatch(/^\S+ ledgerctl$/);
    await outputOf(database, "audit");
    await database.drop();
  });

  it("distributes what an earlier run has left", async () => {
    const database = await createTestDatabase();
    const isDistributed = `SELECT FROM pg_dist_partition
      WHERE logicalrelid = 'day_spans'::regclass AND partmethod = 'h'`;
    await runStatement(database.url, "SELECT undistribute_table('day_spans')");
    expect(await runStatement(database.url, isDistributed)).toBe(0);
    expect(await outputOf(database, "migrate")).toBe("nothing to apply\n");
    expect(await runStatement(database.url, isDistributed)).toBe(1);
    await database.drop();
  });

  it("tells of acts about a ledger that is not there", async () => {
    const books = await createBooks();
    await forge(
      books,
      `INSERT INTO ledger_acts (ledger_id, number, at, kind, subject, record, database_role, program, hash)
       VALUES ('${randomUUID()}', 1, now(), 'made', 'accounts', '{}', 'x', 'x', sha256(''))`,
    );
    const { code, stdout } = await runOn({ ...books, url: books.databaseUrl }, "audit");
    expect(stdout).toContain("table ledger_acts has rows of a ledger that is not there");
    expect(code).toBe(3);
    await books.drop();
  });

  it("refuses another node than the coordinator, and names that", async () => {
    const database = await createTestDatabase();
    const [coordinator = "", worker = ""] = nodes;
    const url = withDatabase(worker, new URL(database.url).pathname.slice(1));
    for (const command of ["migrate", "migrate --status", "audit", "serve", "serve --no-migrate"]) {
      const { code, stderr } = await runOn({ ...database, url }, ...command.split(" "));
      expect(stderr, command).toContain(`name the one that is (${new URL(coordinator).host})`);
      expect(code, command).toBe(7);
    }
    // A name may come to lead there while a server runs.
    const pool = new Pool({ databaseUrl: url, connectionsMax: 1, answerTimeoutMs: 10_000 });
    await expect(readClock(pool)).rejects.toThrow("it is not the coordinator of its cluster");
    await pool.end();
    await database.drop();
  });

  it("spreads what later migrations make", async () => {
    const database = await createEmptyCluster();
    await migrate(database.url, 9);
    await distribute(database.url);
    const later = (await listMigrationFiles()).slice(9);
    expect(await outputOf(database, "migrate")).toBe(`applied ${later.join(", ")}\n`);
    const whole = await createTestDatabase();
    expect(await listParts(database)).toEqual(await listParts(whole));
    await whole.drop();
    await database.drop();
  });
});
