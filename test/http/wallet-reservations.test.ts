// Reservations: holds that are committed, released or expire, and what each does to the figures.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";
import { expectConsistentLog } from "../support/wallet-oracle.ts";
import {
  accepted,
  expectDuplicate,
  expectFigures,
  hold,
  move,
  newKey,
  readFigures,
  readWalletLog,
  refusal,
  resolve,
} from "../support/wallets.ts";
import { until } from "../support/until.ts";

const service = serveBooks();

/** A wallet with 100, none of it held. */
async function funded(): Promise<string> {
  const key = newKey(service);
  accepted(await move(service, key, "credit", 100));
  return key;
}

/** Waits until a hold has expired by the database's clock, which decides. */
async function waitForExpiry(holdId: string): Promise<void> {
  const query = `SELECT 1 FROM wallet_holds WHERE hold_id = $1 AND expires_at <= clock_timestamp()`;
  await until("its expiry", async () => (await readRows(service, query, [holdId])).length > 0);
}

describe("a reservation", () => {
  test("answers exactly status, holdId, balance and available", async () => {
    const key = await funded();
    const reply = await move(service, key, "reserve", 30);
    expect(reply.body).toEqual({
      status: "accepted",
      holdId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      balance: "100",
      available: "70",
    });
    await expectFigures(service, key, 100, 70);
  });

  test("over what is available is 422, to the unit", async () => {
    const key = await funded();
    refusal(await move(service, key, "reserve", 101), 422);
    await hold(service, key, 60);
    refusal(await move(service, key, "reserve", 41), 422);
    await hold(service, key, 40);
    await expectFigures(service, key, 100, 0);
  });

  test("sent again with its externalId answers duplicate with the same hold", async () => {
    const key = await funded();
    const holdId = await hold(service, key, 30, { externalId: "r" });
    const again = await move(service, key, "reserve", 30, { externalId: "r" });
    expect(again.body).toEqual({ status: "duplicate", holdId, balance: "100", available: "70" });
    accepted(await resolve(service, key, holdId, "commit"));
    const later = await move(service, key, "reserve", 1, { externalId: "r" });
    expect(later.body).toEqual({ status: "duplicate", holdId, balance: "70", available: "70" });
  });

  test.each([0, -1, 1.5, 31_536_001, "60", true, 1e300])(
    "that is to last %j seconds is refused",
    async (expiresInSeconds) => {
      const reply = await move(service, await funded(), "reserve", 1, { expiresInSeconds });
      expect(refusal(reply, 400)).toMatch(/^expiresInSeconds must/);
    },
  );

  test("may last 1 second, a year, or for ever", async () => {
    const key = await funded();
    const lasting = async (more: Record<string, unknown>) => {
      const holdId = await hold(service, key, 1, more);
      const query = `SELECT extract(epoch FROM holds.expires_at - writes.at)::text AS seconds
                       FROM wallet_holds AS holds JOIN wallet_writes AS writes USING (ledger_id, hold_id)
                      WHERE ledger_id = $1 AND hold_id = $2`;
      const [row] = await readRows(service, query, [service.books.ledgerId, holdId]);
      const seconds = row?.["seconds"];
      return seconds === null ? null : Number(seconds);
    };
    expect(await lasting({ expiresInSeconds: 1 })).toBe(1);
    expect(await lasting({ expiresInSeconds: 31_536_000 })).toBe(31_536_000);
    expect(await lasting({ expiresInSeconds: null })).toBeNull();
    expect(await lasting({})).toBeNull();
  });
});

describe("a commit", () => {
  test("takes the whole hold", async () => {
    const key = await funded();
    const holdId = await hold(service, key, 30);
    const reply = await resolve(service, key, holdId, "commit");
    expect(reply.body).toEqual({ status: "accepted", balance: "70", available: "70" });
  });

  test.each([[{}], [{ amount: null }], [{ amount: "30" }], [undefined]])(
    "with the body %j is one of the whole hold",
    async (body) => {
      const key = await funded();
      const holdId = await hold(service, key, 30);
      expect(accepted(await resolve(service, key, holdId, "commit", body)).balance).toBe("70");
    },
  );

  test("of a part releases the rest", async () => {
    const key = await funded();
    const holdId = await hold(service, key, 30);
    const reply = await resolve(service, key, holdId, "commit", { amount: "12" });
    expect(reply.body).toEqual({ status: "accepted", balance: "88", available: "88" });
    const last = (await readWalletLog(service, key)).at(-1);
    expect(last).toMatchObject({ type: "commit", amount: "12", balance: "88", held: "0", holdId });
  });

  test("of more than is held is 400, and the hold stays", async () => {
    const key = await funded();
    const holdId = await hold(service, key, 30);
    const reply = await resolve(service, key, holdId, "commit", { amount: "31" });
    expect(refusal(reply, 400)).toBe("amount must not be more than is held");
    await expectFigures(service, key, 100, 70);
    accepted(await resolve(service, key, holdId, "commit"));
  });

  test.each(["0", "-1", 5, "1.0", ""])("of the amount %j is 400", async (amount) => {
    const key = await funded();
    const holdId = await hold(service, key, 30);
    refusal(await resolve(service, key, holdId, "commit", { amount }), 400);
  });
});

test("a release gives everything back", async () => {
  const key = await funded();
  const holdId = await hold(service, key, 30);
  const reply = await resolve(service, key, holdId, "release");
  expect(reply.body).toEqual({ status: "accepted", balance: "100", available: "100" });
  refusal(
    await resolve(service, key, await hold(service, key, 1), "release", { amount: "1" }),
    400,
  );
});

describe("a hold that was resolved", () => {
  test.each([
    ["commit", "release"],
    ["release", "commit"],
  ] as const)("by %s answers that again as duplicate and %s with 409", async (verb, other) => {
    const key = await funded();
    const holdId = await hold(service, key, 30);
    const { balance } = accepted(await resolve(service, key, holdId, verb));
    expectDuplicate(await resolve(service, key, holdId, verb), balance);
    expectDuplicate(await resolve(service, key, holdId.toUpperCase(), verb), balance);
    refusal(await resolve(service, key, holdId, other), 409);
    if (verb === "commit") {
      expectDuplicate(await resolve(service, key, holdId, verb, { amount: "999" }), balance);
    }
    expect(await readWalletLog(service, key)).toHaveLength(3);
    await expectFigures(service, key, balance === "70" ? 70 : 100);
  });

  test("by many at once, was resolved by one of them", async () => {
    const key = await funded();
    const holdId = await hold(service, key, 30);
    const verbs = Array.from({ length: 40 }, (_, index) => (index % 2 ? "commit" : "release"));
    const replies = await Promise.all(verbs.map((verb) => resolve(service, key, holdId, verb)));
    const words = replies.map(({ body }) => (body as { status?: string }).status);
    expect(words.filter((word) => word === "accepted")).toHaveLength(1);
    expect(words.filter((word) => word === "duplicate")).toHaveLength(19);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(20);
    expectConsistentLog(await readWalletLog(service, key));
  });
});

test("a hold that the wallet does not have is 404, another wallet's too", async () => {
  const [key, other] = [await funded(), await funded()];
  const holdId = await hold(service, other, 30);
  const elsewhere = newKey(service, await service.books.createLedger());
  for (const verb of ["commit", "release"] as const) {
    for (const id of [randomUUID(), "no-uuid", holdId, `${holdId}x`]) {
      refusal(await resolve(service, key, id, verb), 404);
      refusal(await resolve(service, newKey(service), id, verb), 404);
    }
    refusal(await resolve(service, elsewhere, holdId, verb), 404);
  }
  accepted(await resolve(service, other, holdId, "commit"));
  for (const wallet of [key, elsewhere]) {
    refusal(await resolve(service, wallet, holdId, "commit"), 404);
  }
});

describe("a hold that expired", () => {
  test("stops counting at its instant, and is logged when it is asked for", async () => {
    const key = await funded();
    await hold(service, key, 20);
    const holdId = await hold(service, key, 30, { expiresInSeconds: 1 });
    await expectFigures(service, key, 100, 50);
    await waitForExpiry(holdId);
    await expectFigures(service, key, 100, 80);
    expect(await readWalletLog(service, key)).toHaveLength(3);
    refusal(await resolve(service, key, holdId, "commit"), 409);
    refusal(await resolve(service, key, holdId, "release"), 409);
    const log = await readWalletLog(service, key);
    expect(log.map(({ type }) => type)).toEqual(["credit", "reserve", "reserve", "expire"]);
    expectConsistentLog(log);
    expect(await readFigures(service, key)).toEqual({ balance: "100", available: "80" });
  });

  test("is logged first by the next write, and still can't be resolved", async () => {
    const key = await funded();
    const ids = [
      await hold(service, key, 30, { expiresInSeconds: 1 }),
      await hold(service, key, 50, { expiresInSeconds: 1 }),
    ];
    for (const id of ids) await waitForExpiry(id);
    const known = await move(service, key, "credit", 1, { externalId: "k" });
    expect(accepted(known)).toMatchObject({ balance: "101", available: "101" });
    const log = await readWalletLog(service, key);
    expectConsistentLog(log);
    const types = ["credit", "reserve", "reserve", "expire", "expire", "credit"];
    expect(log.map(({ type }) => type)).toEqual(types);
    expect(new Set(log.slice(3, 5).map(({ holdId }) => holdId))).toEqual(new Set(ids));
    for (const row of log.slice(3, 5)) {
      expect(row).toMatchObject({ externalId: null, metadata: null, journalId: null });
    }
    for (const id of ids) {
      refusal(await resolve(service, key, id, "commit"), 409);
      refusal(await resolve(service, key, id, "release"), 409);
    }
  });

  test("frees its amount for a debit, and a refused one logs nothing", async () => {
    const key = await funded();
    const holdId = await hold(service, key, 100, { expiresInSeconds: 1 });
    refusal(await move(service, key, "debit", 1), 422);
    await waitForExpiry(holdId);
    refusal(await move(service, key, "debit", 101), 422);
    expect(await readWalletLog(service, key)).toHaveLength(2);
    expect(accepted(await move(service, key, "debit", 100)).balance).toBe("0");
    const log = await readWalletLog(service, key);
    expect(log.slice(2).map(({ type }) => type)).toEqual(["expire", "debit"]);
    expectConsistentLog(log);
  });
});
