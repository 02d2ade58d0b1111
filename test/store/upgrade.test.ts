// A database of version 0.1.0 with data, upgraded while an older server still runs.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { auditLedgers } from "../../src/audit/audit.ts";
import type { AuditReport } from "../../src/audit/audit-log.ts";
import { WalletLogDigests } from "../../src/engine/wallet-log-digests.ts";
import { listAdministrationActs } from "../../src/store/administration-acts.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openBooks } from "../support/books.ts";
import { createEmptyDatabase, type TestDatabase } from "../support/database.ts";
import { neverPosting } from "../support/engine.ts";
import { startService } from "../support/service.ts";
import { accepted, move } from "../support/wallets.ts";

const organizationId = "01a00000-0000-7000-8000-000000000001";
const ledgerId = "01a00000-0000-7000-8000-000000000002";
const [walletA, walletB] = [
  "01a00000-0000-7000-8000-00000000000a",
  "01a00000-0000-7000-8000-00000000000b",
];
const [batch, hold] = [
  "01a00000-0000-7000-8000-00000000000c",
  "01a00000-0000-7000-8000-00000000000d",
];
const at = "2026-01-01T10:00:00Z";

/** What 0.1.0 has written: two wallets, a hold, and what is pending of them. */
const older = `
  INSERT INTO organizations VALUES ('${organizationId}', 'Older', '${at}');
  INSERT INTO api_keys VALUES ('lk_older', '${organizationId}', '{read}', 'aa', '${at}', NULL, NULL);
  INSERT INTO ledgers VALUES ('${ledgerId}', '${organizationId}', 'Books', 'USD', '{}', '${at}');
  INSERT INTO ledger_states VALUES ('${ledgerId}', 'active', '${at}');
  INSERT INTO journal_heads VALUES ('${ledgerId}', 0, NULL);
  INSERT INTO accounts VALUES
    ('${ledgerId}', 'wallets:USD', 'Wallets in USD', 'liability', true, '${at}'),
    ('${ledgerId}', 'wallets-clearing:USD', 'Clearing', 'asset', true, '${at}');
  INSERT INTO asset_rules VALUES
    ('${ledgerId}', 'USD', 1, 'wallets:USD', 'wallets-clearing:USD', 1, 2, 0, '${at}');
  INSERT INTO wallets VALUES
    ('${ledgerId}', 'a', '${walletA}', 'USD', 100, 30, 2, '${at}'),
    ('${ledgerId}', 'b', '${walletB}', 'USD', 5, 0, 1, '${at}');
  INSERT INTO wallet_writes VALUES
    ('${ledgerId}', '${walletA}', 1, 'credit', 100, 100, 0, 'first', NULL, 'text', '${at}', '${batch}'),
    ('${ledgerId}', '${walletA}', 2, 'reserve', 30, 100, 30, NULL, '${hold}', NULL, '${at}', NULL),
    ('${ledgerId}', '${walletB}', 1, 'credit', 5, 5, 0, NULL, NULL, NULL, '${at}', '${batch}');
  INSERT INTO wallet_holds VALUES
    ('${ledgerId}', '${hold}', '${walletA}', 30, '2030-01-01T00:00:00Z', 'active');
  INSERT INTO wallet_batches VALUES
    ('${ledgerId}', '${batch}', 'USD', 1, 'credit', 105, 2, '${at}', '${at}',
     '{${walletA},${walletB}}', '{1,1}', '{1,1}', NULL);`;

let database: TestDatabase;
let client: Client;
let pool: Pool;

beforeAll(async () => {
  database = await createEmptyDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    "CREATE TABLE schema_migrations (id serial PRIMARY KEY, name varchar(255) NOT NULL, run_on timestamp NOT NULL)",
  );
  for (const name of ["0001_books", "0002_wallets", "0003_closes"]) {
    const file = new URL(`../../migrations/${name}.sql`, import.meta.url);
    await client.query(await readFile(file, "utf8"));
    await client.query("INSERT INTO schema_migrations (name, run_on) VALUES ($1, now())", [name]);
  }
  await client.query(older);
  await migrate(database.url);
  pool = new Pool({ databaseUrl: database.url, connectionsMax: 4, answerTimeoutMs: 20_000 });
});

afterAll(async () => {
  await pool.end();
  await client.end();
  await database.drop();
});

async function audit(): Promise<AuditReport> {
  const report = await pool.snapshot((reads) => auditLedgers(reads, null));
  if (report === null) throw new Error("all ledgers are audited");
  return report;
}

const findings = ({ checks }: AuditReport) => checks.flatMap((check) => check.findings);

async function refusalOf(statement: string): Promise<unknown> {
  return client.query(statement).then(
    () => null,
    (error: unknown) => (error as { code?: unknown }).code,
  );
}

test("adopts what was there by an act each, and notes what has no digest yet", async () => {
  const { acts } = await listAdministrationActs(pool, 100);
  expect(acts.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
    "adopted organizations",
    "adopted api_keys",
    "adopted ledgers",
    "adopted ledger_states",
    ...["adopted accounts", "adopted accounts", "adopted asset_rules"],
  ]);
  const report = await audit();
  expect(findings(report)).toEqual([]);
  expect(report.notes.map(({ what }) => what)).toEqual([
    "2 have rows older than chains; a running server makes digests of them",
  ]);
});

test("refuses what an older server writes to wallets as it refuses a database without resources", async () => {
  // The statements of 0.1.0. It answers 503 to SQLSTATEs of class 53.
  const moved = `UPDATE wallets SET balance = 101, held = 30, last_seq = 3, last_at = now() WHERE caller_key = 'a'`;
  expect(await refusalOf(moved)).toBe("53400");
  const made = `INSERT INTO wallets (ledger_id, caller_key, wallet_id, asset_code, balance, held, last_seq, last_at)
                VALUES ('${ledgerId}', 'new', gen_random_uuid(), 'USD', 1, 0, 1, now())`;
  expect(await refusalOf(made)).toBe("53400");
});

test("records what an older program administers", async () => {
  await client.query(
    `INSERT INTO accounts VALUES ('${ledgerId}', '1000', 'Cash', 'asset', true, now());
     UPDATE accounts SET active = false WHERE gl_account_code = '1000';
     UPDATE api_keys SET revoked_at = now() WHERE api_key = 'lk_older';
     UPDATE api_keys SET revoked_at = revoked_at WHERE api_key = 'lk_older';
     INSERT INTO api_keys (api_key, organization_id, scopes, master_key_fingerprint, created_at, expires_at)
     VALUES ('lk_newer', '${organizationId}', '{read}', 'aa', now(), NULL)`,
  );
  const { acts } = await listAdministrationActs(pool, 4);
  expect(acts).toMatchObject([
    { kind: "made", subject: "accounts", ledgerId, operator: null, record: { active: true } },
    { kind: "changed", subject: "accounts", ledgerId, record: { active: false } },
    { kind: "changed", subject: "api_keys", ledgerId: null, record: { api_key: "lk_older" } },
    { kind: "made", subject: "api_keys", record: { api_key: "lk_newer", name: null } },
  ]);
  expect(findings(await audit())).toEqual([]);
});

test("chains a wallet from its next write on, and makes digests of all that is older", async () => {
  const books = await openBooks(database.url, randomBytes(32), organizationId);
  const drop = () => books.pool.end();
  const credentials = await books.createKey();
  const service = await startService({ ...books, credentials, ledgerId, drop }, neverPosting);
  accepted(await move(service, `${ledgerId}:a`, "credit", 7));
  const onFailure = (error: unknown) => {
    throw error;
  };
  const servers = [1, 2].map(() => new WalletLogDigests(pool, { pauseMs: 1, onFailure }));
  let isDone = false;
  while (!isDone) {
    const done = await Promise.all(servers.map((server) => server.makePiece()));
    isDone = done.every(Boolean);
  }
  accepted(await move(service, `${ledgerId}:b`, "debit", 2));
  await service.stop();
  await drop();
  const { rows } = await client.query(
    `SELECT caller_key, chained_after::int, digest IS NOT NULL AS digested
       FROM wallets LEFT JOIN wallet_log_digests USING (ledger_id, wallet_id) ORDER BY 1`,
  );
  expect(rows).toEqual([
    { caller_key: "a", chained_after: 2, digested: true },
    { caller_key: "b", chained_after: 1, digested: true },
  ]);
  const report = await audit();
  expect(findings(report)).toEqual([]);
  expect(report.notes).toEqual([]);
});

test.each([
  [
    "an older row",
    `UPDATE wallet_writes SET metadata = 'other' WHERE seq = 1 AND wallet_id = '${walletA}'`,
    `UPDATE wallet_writes SET metadata = 'text' WHERE seq = 1 AND wallet_id = '${walletA}'`,
  ],
  [
    "when an older hold expires",
    "UPDATE wallet_holds SET expires_at = expires_at + interval '1 day'",
    "UPDATE wallet_holds SET expires_at = expires_at - interval '1 day'",
  ],
  [
    "a digest's absence",
    "CREATE TABLE kept AS TABLE wallet_log_digests; DELETE FROM wallet_log_digests",
    "INSERT INTO wallet_log_digests TABLE kept; DROP TABLE kept",
  ],
])("finds a change of %s", async (_name, change, undo) => {
  await client.query("SET session_replication_role = replica");
  await client.query(change);
  const report = await audit();
  await client.query(undo);
  expect(findings(report)).not.toEqual([]);
  expect(report.checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["wallet-logs"]);
  expect(findings(await audit())).toEqual([]);
});
