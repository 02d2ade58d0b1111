// Why no commit succeeds, as /readyz tells it: the cause that is known, and what to do, without names of hosts and users.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommitProbe } from "../../src/server/commit-probe.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../support/database.ts";

const role = `ledgerctl_role_${randomBytes(6).toString("hex")}`;
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await runStatement(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'right'`);
  await runStatement(database.url, `GRANT SELECT, INSERT, UPDATE ON commit_probes TO ${role}`);
});

afterAll(async () => {
  await runStatement(database.url, `DROP OWNED BY ${role}`);
  await runStatement(database.url, `DROP ROLE ${role}`);
  await database.drop();
});

/** The URL of the database for the role, with a part replaced. */
function roleUrl(part: RegExp | string = "", replacement = ""): string {
  const url = new URL(database.url);
  url.username = role;
  url.password = "right";
  return url.href.replace(part, replacement);
}

/** What one commit comes to; null where it succeeds. */
async function reasonOf(databaseUrl: string): Promise<string | null> {
  const pool = new Pool({ databaseUrl, connectionsMax: 1, answerTimeoutMs: 10_000 });
  let found: string | null = "nothing was told";
  await new CommitProbe(pool, pool, (reason) => (found = reason)).commit();
  await pool.cut();
  return found;
}

test("a commit that succeeds has none", async () => {
  expect(await reasonOf(roleUrl())).toBeNull();
});

test.each<[string, string, RegExp, string]>([
  ["a wrong password", "refuses the login", /right/, "wrong"],
  ["a user that is not there", "refuses the login", /ledgerctl_role/, "no_role"],
  ["a database that is not there", "is not there", /\/[^/]*$/, "/no_database"],
  ["a host that is not there", "does not answer", /@[^/]*/, "@127.0.0.1:1"],
  [
    "several hosts that are not there",
    "no host of the database URL takes writes",
    /@[^/]*/,
    "@127.0.0.1:1,127.0.0.1:2",
  ],
])("%s is told of", async (_, reason, part, replacement) => {
  const told = await reasonOf(roleUrl(part, replacement));
  expect(told).toContain(reason);
  expect(told).not.toMatch(/127\.0\.0\.1|no_database|_role/);
});

test.each([
  ["no connection left", "CONNECTION LIMIT 0", "CONNECTION LIMIT -1"],
  ["refuses the login", "NOLOGIN", "LOGIN"],
])("a role that gets '%s' is told of", async (reason, change, undo) => {
  await runStatement(database.url, `ALTER ROLE ${role} ${change}`);
  expect(await reasonOf(roleUrl())).toContain(reason);
  await runStatement(database.url, `ALTER ROLE ${role} ${undo}`);
});

test("a role without privileges is told of", async () => {
  await runStatement(database.url, `REVOKE UPDATE ON commit_probes FROM ${role}`);
  expect(await reasonOf(roleUrl())).toContain("lacks privileges");
});
