// docs/operations.md grants a role what serving takes: all of it works with these privileges.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DaySums } from "../../src/engine/day-sums.ts";
import { changeLedgerStatus } from "../../src/engine/ledger-state.ts";
import { UnreadableSequence } from "../../src/store/backup/tables.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { backUp, restoreInto } from "../support/backups.ts";
import { createEmptyDatabase, runStatement } from "../support/database.ts";
import { entriesPath, entry } from "../support/entries.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { accepted, hold, move, newKey, resolve } from "../support/wallets.ts";

const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
const role = `ledgerctl_app_${randomBytes(6).toString("hex")}`;

let books: TestBooks;
let databaseUrl: string;
let service: TestService;

beforeAll(async () => {
  books = await createBooks();
  const password = randomBytes(12).toString("hex");
  await runStatement(books.databaseUrl, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  const grants = page.match(/^GRANT [^;]*;/gm) ?? [];
  expect(grants.length).toBeGreaterThan(1);
  for (const grant of grants) {
    await runStatement(books.databaseUrl, grant.replace("ledger_app", role));
  }
  const url = new URL(books.databaseUrl);
  url.username = role;
  url.password = password;
  databaseUrl = url.href;
  const variables = { LEDGERCTL_POST_INTERVAL_MS: "50" };
  service = await startService(books, { databaseUrl, variables });
});

afterAll(async () => {
  await service.stop();
  await runStatement(books.databaseUrl, `DROP OWNED BY ${role}`);
  await runStatement(books.databaseUrl, `DROP ROLE ${role}`);
  await books.drop();
});

it("serves entries, wallets with their postings, closes and changes of a ledger's state", async () => {
  const { ledgerId } = books;
  const posted = await service.post(entriesPath(ledgerId), entry());
  expect(posted.status, posted.text).toBe(201);
  const { journalId } = posted.body as { journalId: string };
  const reversal = await service.post(`${entriesPath(ledgerId)}/${journalId}/reversal`);
  expect(reversal.status, reversal.text).toBe(201);
  const key = newKey(service);
  accepted(await move(service, key, "credit", 100));
  accepted(await move(service, key, "debit", 10));
  accepted(await resolve(service, key, await hold(service, key, 20), "commit"));
  await expect
    .poll(async () => (await service.get(entriesPath(ledgerId))).text)
    .toContain("WALLET_BATCH");
  const year = String(new Date().getUTCFullYear());
  const closed = await service.post(`/v1/ledgers/${ledgerId}/period-closes`, { periodId: year });
  expect(closed.status, closed.text).toBe(201);
  const connections = new Pool({
    databaseUrl,
    connectionsMax: 1,
    lockTimeoutMs: 10_000,
    answerTimeoutMs: 20_000,
  });
  try {
    const changed = await changeLedgerStatus(connections, ledgerId, "suspended");
    expect(changed.outcome).toBe("done");
    const sums = new DaySums(connections, {
      intervalMs: 1,
      spanEntries: 1,
      onFailure: (error) => {
        throw error;
      },
    });
    await sums.sumAll();
    await sums.sumAll();
  } finally {
    await connections.end();
  }
});

it("takes a backup that can be restored", async () => {
  const { summary, bytes } = await backUp(databaseUrl);
  const restored = await createEmptyDatabase();
  try {
    const { tables } = await restoreInto(restored.url, bytes);
    expect(tables).toEqual(summary.tables);
  } finally {
    await restored.drop();
  }
});

it("takes no backup without a sequence that it may not read, and names the privilege", async () => {
  await runStatement(
    books.databaseUrl,
    "CREATE TABLE numbered (n bigint GENERATED ALWAYS AS IDENTITY)",
  );
  await runStatement(books.databaseUrl, `GRANT SELECT ON numbered TO ${role}`);
  const refused = backUp(databaseUrl);
  await expect(refused).rejects.toThrow(UnreadableSequence);
  await expect(refused).rejects.toThrow(
    'GRANT SELECT ON SEQUENCE "public"."numbered_n_seq" TO the role',
  );
});
