// Transfers among few wallets in all directions, on two servers: no deadlock, nothing lost, doubled or made up, also while
// connections are cut around COMMIT.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCuttingProxy, type CuttingProxy } from "../support/cutting-proxy.ts";
import { watchDeadlocks, type DeadlockWatch } from "../support/deadlock-watch.ts";
import { neverPosting } from "../support/engine.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { openStream } from "../support/stream-reader.ts";
import { transfer, transferFunds, transferResults } from "../support/transfers.ts";
import type { LoggedRow } from "../support/wallet-oracle.ts";
import { accepted, move, readFigures, readWalletLog } from "../support/wallets.ts";
import { random } from "../support/wallet-traffic.ts";

let books: TestBooks;
let deadlocks: DeadlockWatch;
let proxy: CuttingProxy;
/** Behind the proxy, and beside it. */
let service: TestService;
let other: TestService;

beforeAll(async () => {
  books = await createBooks();
  deadlocks = await watchDeadlocks(books.databaseUrl);
  proxy = await openCuttingProxy(books.databaseUrl);
  service = await startService(books, { ...neverPosting, databaseUrl: proxy.url });
  other = await startService(books, neverPosting);
});

afterAll(async () => {
  await Promise.all([service.stop(), other.stop()]);
  await proxy.close();
  await books.drop();
});

const names = Array.from({ length: 10 }, (_, index) => `w${index}`);
const funds = 1_000;

async function fundedLedger(): Promise<string> {
  const ledgerId = await books.createLedger();
  for (const name of names) accepted(await move(other, `${ledgerId}:${name}`, "credit", funds));
  return ledgerId;
}

/** The logs of all wallets: figures that follow from the rows, both halves of each transfer, and the same sum as before. */
async function expectWhole(ledgerId: string): Promise<Map<string, LoggedRow[]>> {
  const halves = new Map<string, { row: LoggedRow; name: string }[]>();
  const logs = new Map<string, LoggedRow[]>();
  let sum = 0n;
  for (const name of names) {
    const rows = await readWalletLog(other, `${ledgerId}:${name}`);
    logs.set(name, rows);
    let balance = 0n;
    rows.forEach((row, index) => {
      balance += row.type === "transfer-out" ? -BigInt(row.amount) : BigInt(row.amount);
      expect([row.seq, row.balance]).toEqual([index + 1, String(balance)]);
      expect(balance >= 0n).toBe(true);
      const { transferId } = row as LoggedRow & { transferId?: string };
      if (transferId === undefined) return;
      halves.set(transferId, [...(halves.get(transferId) ?? []), { row, name }]);
    });
    expect((await readFigures(other, `${ledgerId}:${name}`)).balance).toBe(String(balance));
    sum += balance;
  }
  expect(sum).toBe(BigInt(names.length * funds));
  for (const [one, two, ...more] of halves.values()) {
    expect(more).toEqual([]);
    expect(new Set([one?.row.type, two?.row.type]).size).toBe(2);
    expect(one?.row.amount).toBe(two?.row.amount);
    expect(one?.row).toMatchObject({ counterparty: two?.name });
    expect(two?.row).toMatchObject({ counterparty: one?.name });
  }
  return logs;
}

/** Clients that transfer at random until told to stop; each transfer has an externalId and is asked twice at times. */
async function transferAtRandom(ledgerId: string, clients: number, steps: number): Promise<number> {
  let made = 0;
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const next = random(client + 1);
      for (let step = 0; step < steps; step += 1) {
        const from = next(names.length);
        const to = (from + 1 + next(names.length - 1)) % names.length;
        const more = { externalId: `${client}/${step}` };
        const one = transfer(names[from] ?? "", names[to] ?? "", 1 + next(300), more);
        const atomic = next(4) === 0;
        const server = next(2) === 0 ? service : other;
        // Back again, and on to a third wallet: whatever the order of keys, in one transaction.
        const third = names[(to + 1 + next(names.length - 1)) % names.length] ?? "";
        const back = { from: one.to, to: one.from, amount: "1", assetCode: one.assetCode };
        const on = { ...back, to: third };
        const others = [back, on].map((way, index) => ({
          ...way,
          externalId: `${client}/${step}/${index}`,
        }));
        const sent = atomic ? [one, ...others] : [one];
        const reply = await transferFunds(server, sent, { atomic }, ledgerId);
        if (reply.status === 422) continue;
        const results = transferResults(reply);
        for (const { status } of results) expect(["accepted", 422]).toContain(status);
        made += results.filter(({ status }) => status === "accepted").length;
        if (next(5) > 0 || results[0]?.status !== "accepted") continue;
        const again = transferResults(await transferFunds(other, sent, { atomic }, ledgerId));
        expect(again.map(({ status, transferId }) => [status, transferId])).toEqual(
          results.map(({ transferId }) => ["duplicate", transferId]),
        );
      }
    }),
  );
  return made;
}

describe("transfers among ten wallets on two servers", () => {
  test("never deadlock, and move what is there and no more", async () => {
    const ledgerId = await fundedLedger();
    const readers = await Promise.all(
      names.slice(0, 3).map((name) => openStream(other, `${ledgerId}:${name}`, { since: 0 })),
    );
    const made = await transferAtRandom(ledgerId, 64, 12);
    expect(made).toBeGreaterThan(64);
    const logs = await expectWhole(ledgerId);
    for (const [index, reader] of readers.entries()) {
      const rows = logs.get(names[index] ?? "") ?? [];
      await reader.reach(rows.length);
      await reader.end();
      expect(reader.messages.map(({ seq, balance }) => [seq, balance])).toEqual(
        rows.map(({ seq, balance }) => [seq, balance]),
      );
    }
    await deadlocks.expectNone();
  });

  test.each(["beforeCommit", "afterCommit", "withCommit"] as const)(
    "lose and double nothing while connections are cut (%s)",
    async (point) => {
      const ledgerId = await fundedLedger();
      const run = { isOver: false };
      const running = transferAtRandom(ledgerId, 8, 10).finally(() => {
        run.isOver = true;
      });
      const cutting = (async () => {
        while (!run.isOver) {
          const cut = proxy.cutNext(point);
          // Something to be cut, whoever else writes by now.
          await transferFunds(service, [transfer("w0", "w1", 1)], {}, ledgerId);
          await cut;
        }
      })();
      await running;
      await cutting;
      await expectWhole(ledgerId);
    },
  );
});
