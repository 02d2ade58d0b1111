// Deactivating accounts while entries arrive: once it is answered, no entry on the account gets in any more.
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importAccounts, setAccountActive } from "../../src/engine/accounts.ts";
import { setAssetRule } from "../../src/engine/assets.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { entriesPath, entry, listEntries, postEntry, problem } from "../support/entries.ts";
import { neverPosting } from "../support/engine.ts";
import { countRows, lockWaiters, readRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks(neverPosting);
let connections: Pool;
let client: Client;

beforeAll(async () => {
  const { databaseUrl } = service.books;
  connections = new Pool({
    databaseUrl,
    connectionsMax: 2,
    lockTimeoutMs: 30_000,
    answerTimeoutMs: 40_000,
  });
  client = new Client({ connectionString: databaseUrl });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await connections.end();
});

const row = (glAccountCode: string, active: boolean | null) => ({
  glAccountCode,
  name: "Renamed",
  type: null,
  active,
});

function importRows(ledgerId: string, ...rows: ReturnType<typeof row>[]) {
  return importAccounts(connections, ledgerId, rows);
}

function setActive(ledgerId: string, code: string, active: boolean) {
  return setAccountActive(connections, ledgerId, code, active);
}

async function isActive(ledgerId: string, code: string): Promise<unknown> {
  const query = "SELECT active FROM accounts WHERE ledger_id = $1 AND gl_account_code = $2";
  return (await readRows(service, query, [ledgerId, code]))[0]?.["active"];
}

const ways: [string, (ledgerId: string) => Promise<{ outcome: string }>][] = [
  ["by itself", (ledgerId) => setActive(ledgerId, "1000", false)],
  ["by an import", (ledgerId) => importRows(ledgerId, row("1000", false))],
];

describe.each(ways)("an account that is deactivated %s", (_, deactivate) => {
  test("gets no entry whose batch had begun before and ends after", async () => {
    const ledgerId = await service.books.createLedger();
    await postEntry(service, entry(), ledgerId);
    // A batch comes to the balances last: it has found the account active by then.
    await client.query("BEGIN");
    await client.query("SELECT FROM account_balances WHERE ledger_id = $1 FOR UPDATE", [ledgerId]);
    const reply = service.post(entriesPath(ledgerId), entry());
    while ((await countRows(service, lockWaiters)) === 0);
    expect(await deactivate(ledgerId)).toMatchObject({ outcome: "done" });
    const { total } = await listEntries(service, "", ledgerId);
    await client.query("COMMIT");
    // The writer tried again, and found the account inactive; or its time was over.
    expect([400, 503]).toContain(problem(await reply).status);
    expect((await listEntries(service, "", ledgerId)).total).toBe(total);
  });

  test("gets no entry after that has been answered, however many arrive", async () => {
    const ledgerId = await service.books.createLedger();
    let isAnswered = false;
    const writers = Array.from({ length: 8 }, async () => {
      while (!isAnswered) await service.post(entriesPath(ledgerId), entry());
    });
    await postEntry(service, entry(), ledgerId);
    expect(await deactivate(ledgerId)).toMatchObject({ outcome: "done" });
    const { total } = await listEntries(service, "", ledgerId);
    isAnswered = true;
    await Promise.all(writers);
    expect((await listEntries(service, "", ledgerId)).total).toBe(total);
    expect(total).toBeGreaterThan(0);
  });
});

describe("an account that wallets are posted to", () => {
  test("is not deactivated, and of an import that would do so nothing is done", async () => {
    const ledgerId = await service.books.createLedger();
    await setAssetRule(connections, ledgerId, "MILES", { walletsAccount: "2000" });
    const uses = [{ glAccountCode: "2000", assetCodes: ["MILES"] }];
    const inUse = { outcome: "accountsInUse", uses };
    expect(await setActive(ledgerId, "2000", false)).toEqual(inUse);
    expect(await importRows(ledgerId, row("1000", false), row("2000", false))).toEqual(inUse);
    expect([await isActive(ledgerId, "1000"), await isActive(ledgerId, "2000")]).toEqual([
      true,
      true,
    ]);
    expect(await importRows(ledgerId, row("2000", null))).toMatchObject({ outcome: "done" });
  });
});

test("accounts are switched on again, and one that is not there is told", async () => {
  const { ledgerId } = service.books;
  expect(await setActive(ledgerId, "9000", true)).toMatchObject({ account: { active: true } });
  expect(await setActive(ledgerId, "nowhere", false)).toEqual({ outcome: "accountNotFound" });
  expect(await setActive(ledgerId, "9000", false)).toMatchObject({ account: { active: false } });
});
