// A ledger whose lock somebody else holds: its own writes wait, others do not.
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JournalHub } from "../../src/engine/journal-hub.ts";
import { WalletHub } from "../../src/engine/wallet-hub.ts";
import { Pool } from "../../src/store/database/pool.ts";
import {
  entriesPath,
  entry,
  listEntries,
  postEntry,
  problem,
  written,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import { until } from "../support/until.ts";
import { accepted, move, newKey } from "../support/wallets.ts";

const service = serveBooks();
let client: Client;

beforeAll(async () => {
  client = new Client({ connectionString: service.books.databaseUrl });
  await client.connect();
});

afterAll(async () => {
  await client.end();
});

async function whileHeld(table: string, ledgerId: string, act: () => Promise<void>): Promise<void> {
  await client.query("BEGIN");
  await client.query(`SELECT FROM ${table} WHERE ledger_id = $1 FOR UPDATE`, [ledgerId]);
  await act();
  await client.query("ROLLBACK");
}

describe.each(["journal_heads", "ledger_states"])("a ledger whose row in %s is held", (table) => {
  test("holds up no other ledger, and goes on when it is free", async () => {
    const held = await service.books.createLedger();
    const others = await Promise.all(
      Array.from({ length: 20 }, () => service.books.createLedger()),
    );
    let waiting: Promise<unknown>[] = [];
    let isAnswered = false;
    await whileHeld(table, held, async () => {
      waiting = Array.from({ length: 10 }, () =>
        service.post(entriesPath(held), entry()).then((reply) => {
          isAnswered = true;
          return written(reply);
        }),
      );
      await Promise.all(others.map((ledgerId) => postEntry(service, entry(), ledgerId)));
      expect((await listEntries(service, "", held)).total).toBe(0);
      expect(isAnswered).toBe(false);
    });
    await Promise.all(waiting);
    expect((await listEntries(service, "", held)).total).toBe(10);
  });
});

test("ledgers that are held keep the wallets of no other from being posted", async () => {
  const ledgers = await Promise.all(Array.from({ length: 8 }, () => service.books.createLedger()));
  const held = ledgers.slice(0, 4);
  await client.query("BEGIN");
  for (const ledgerId of held) {
    await client.query("SELECT FROM journal_heads WHERE ledger_id = $1 FOR UPDATE", [ledgerId]);
  }
  for (const ledgerId of ledgers) {
    accepted(await move(service, newKey(service, ledgerId), "credit", 1));
  }
  const posted = async (ledgerId: string) => (await listEntries(service, "", ledgerId)).total;
  for (const ledgerId of ledgers.slice(4)) {
    await expect.poll(() => posted(ledgerId)).toBe(1);
  }
  await client.query("ROLLBACK");
  for (const ledgerId of held) {
    await expect.poll(() => posted(ledgerId)).toBe(1);
  }
});

test("a ledger that is held keeps no stream of another from what other servers write", async () => {
  const { databaseUrl } = service.books;
  const [held, free] = [await service.books.createLedger(), await service.books.createLedger()];
  const pool = new Pool({
    databaseUrl,
    connectionsMax: 4,
    lockTimeoutMs: 200,
    answerTimeoutMs: 20_000,
  });
  const failures: unknown[] = [];
  let isHalted = true;
  const options = {
    pollIntervalMs: 1,
    areCommitsHalted: () => isHalted,
    onFailure: (error: unknown) => failures.push(error),
  };
  const journals = new JournalHub(pool, pool, options);
  const wallets = new WalletHub(pool, options);
  const heard = new Set<string>();
  for (const ledgerId of [held, free]) {
    await journals.subscribe(ledgerId, () => heard.add(`entry of ${ledgerId}`));
    await wallets.subscribe(ledgerId, "a", () => heard.add(`write of ${ledgerId}`));
  }
  const hears = (ledgerId: string) => () =>
    heard.has(`entry of ${ledgerId}`) && heard.has(`write of ${ledgerId}`);
  const write = async (ledgerId: string) => {
    await postEntry(service, entry(), ledgerId);
    accepted(await move(service, `${ledgerId}:a`, "credit", 1));
  };
  await write(held);
  await whileHeld("ledger_states", held, async () => {
    // From here on they look, and can confirm nothing of the one that was followed first.
    isHalted = false;
    await write(free);
    await until("what was written to the other", hears(free));
    await until("failures of both hubs", () => failures.length > 1);
    expect(heard.size).toBe(2);
  });
  await until("what was written to the one that was held", hears(held));
  journals.stop();
  wallets.stop();
  await pool.end();
});

test("a request to change a ledger's state holds nobody once the clock was set back", async () => {
  const ledgerId = await service.books.createLedger();
  const inAnHour = new Date(Date.now() + 3_600_000);
  await client.query("INSERT INTO ledger_state_requests VALUES ($1, $2)", [ledgerId, inAnHour]);
  await postEntry(service, entry(), ledgerId);
  accepted(await move(service, newKey(service, ledgerId), "credit", 1));
});

test("a ledger that is held for too long answers 503, and nothing was written", async () => {
  const held = await service.books.createLedger();
  await whileHeld("journal_heads", held, async () => {
    const reply = await service.post(entriesPath(held), entry(1n, { externalId: "late" }));
    expect(problem(reply)).toMatchObject({ status: 503, code: "UNAVAILABLE" });
    expect(reply.headers["retry-after"]).toMatch(/^\d+$/);
  });
  expect((await listEntries(service, "", held)).total).toBe(0);
  await postEntry(service, entry(1n, { externalId: "late" }), held);
});
