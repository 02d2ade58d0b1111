// What holds wallets back: frozen ones, and limits of their asset. And the list of them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scopes } from "../../src/core/ledger.ts";
import { problem } from "../support/entries.ts";
import { neverPosting, openEngine, type TestEngine } from "../support/engine.ts";
import { dayBefore, forge } from "../support/tampering.ts";
import { serveBooks } from "../support/service.ts";
import type { Credentials } from "../support/signed-request.ts";
import { transfer, transferFunds, transferResults } from "../support/transfers.ts";
import { credit, writeTogether } from "../support/wallet-batches.ts";
import {
  accepted,
  expectFigures,
  hold,
  move,
  readWalletLog,
  refusal,
  resolve,
  walletPath,
} from "../support/wallets.ts";

const service = serveBooks(neverPosting);
let engine: TestEngine;
let admin: Credentials;

beforeAll(async () => {
  engine = openEngine(service.books.databaseUrl);
  admin = await service.books.createKey({ scopes });
});
afterAll(() => engine.end());

const control = (verb: "freeze" | "unfreeze", key: string, credentials = admin) =>
  service.send({ method: "POST", target: walletPath(key, verb), credentials });

/** The status of one transfer by itself. */
async function transferStatus(ledgerId: string, from: string, to: string, amount: number) {
  const [result] = transferResults(
    await transferFunds(service, [transfer(from, to, amount)], {}, ledgerId),
  );
  return result?.status;
}

describe("a frozen wallet", () => {
  test("gives nothing away, but takes credits and transfers and releases holds", async () => {
    const ledgerId = await service.books.createLedger();
    const key = (name: string) => `${ledgerId}:${name}`;
    accepted(await move(service, key("a"), "credit", 100));
    accepted(await move(service, key("b"), "credit", 100));
    const holds = [await hold(service, key("a"), 10), await hold(service, key("a"), 20)] as const;
    const frozen = await control("freeze", key("a"));
    expect(frozen.body).toEqual({
      ...{ status: "accepted", balance: "100", available: "70", frozen: true },
    });
    expect((await control("freeze", key("a"))).body).toMatchObject({ status: "duplicate" });
    for (const verb of ["debit", "reserve"] as const) {
      expect(refusal(await move(service, key("a"), verb, 1), 403)).toMatch(/frozen/);
    }
    refusal(await resolve(service, key("a"), holds[0], "commit"), 403);
    expect(await transferStatus(ledgerId, "a", "b", 1)).toBe(403);
    const atomic = await transferFunds(
      service,
      [transfer("b", "a", 1), transfer("a", "b", 1)],
      { atomic: true },
      ledgerId,
    );
    expect(problem(atomic)).toMatchObject({ code: "WALLET_FROZEN", status: 403 });
    accepted(await resolve(service, key("a"), holds[1], "release"));
    accepted(await move(service, key("a"), "credit", 5));
    expect(await transferStatus(ledgerId, "b", "a", 50)).toBe("accepted");
    expect((await control("unfreeze", key("a"))).body).toMatchObject({ frozen: false });
    accepted(await resolve(service, key("a"), holds[0], "commit"));
    await expectFigures(service, key("a"), 145);
    const types = (await readWalletLog(service, key("a"))).map(({ type, amount }) => [
      type,
      amount,
    ]);
    expect(types).toEqual([
      ["credit", "100"],
      ["reserve", "10"],
      ["reserve", "20"],
      ["freeze", "0"],
      ["release", "20"],
      ["credit", "5"],
      ["transfer-in", "50"],
      ["unfreeze", "0"],
      ["commit", "10"],
    ]);
  });

  test("is frozen where it was made in the same batch, and where it was changed in it", async () => {
    const ledgerId = await service.books.createLedger();
    const key = (name: string) => `${ledgerId}:${name}`;
    accepted(await move(service, key("old"), "credit", 10));
    const replies = await writeTogether(service.books, ledgerId, [
      credit("new", 10n),
      { type: "freeze", callerKey: "new" },
      credit("new", 10n),
      { type: "freeze", callerKey: "old" },
      credit("old", 10n),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(Array(5).fill("accepted"));
    const rows = [
      ...(await readWalletLog(service, key("new"))),
      ...(await readWalletLog(service, key("old"))).slice(1),
    ];
    expect(rows.map(({ type }) => type)).toEqual([
      "credit",
      "freeze",
      "credit",
      "freeze",
      "credit",
    ]);
    expect(new Set(rows.map(({ at }) => at)).size).toBe(1);
    for (const name of ["new", "old"]) {
      refusal(await move(service, key(name), "debit", 1), 403);
      await expectFigures(service, key(name), 20);
    }
  });

  test("tells a duplicate of what it made before", async () => {
    const key = `${service.books.ledgerId}:told`;
    accepted(await move(service, key, "credit", 10));
    accepted(await move(service, key, "debit", 1, { externalId: "x" }));
    await control("freeze", key);
    const again = await move(service, key, "debit", 1, { externalId: "x" });
    expect(again.body).toMatchObject({ status: "duplicate", balance: "9" });
  });

  test("has to be there, and the key to have the scope admin", async () => {
    const key = `${service.books.ledgerId}:never written`;
    for (const verb of ["freeze", "unfreeze"] as const) {
      refusal(await control(verb, key), 404);
      refusal(await control(verb, key, service.books.credentials), 403);
    }
    expect(await readWalletLog(service, key)).toEqual([]);
  });

  test("can't be frozen in a suspended ledger", async () => {
    const ledgerId = await service.books.createLedger();
    accepted(await move(service, `${ledgerId}:a`, "credit", 1));
    await engine.changeStatus(ledgerId, "suspended");
    refusal(await control("freeze", `${ledgerId}:a`), 403);
  });
});

describe("the limits of an asset", () => {
  test("keep balances under maxBalance, by credits and by transfers", async () => {
    const ledgerId = await service.books.createLedger();
    const key = (name: string) => `${ledgerId}:${name}`;
    accepted(await move(service, key("rich"), "credit", 500));
    await engine.setRule(ledgerId, "USD", { maxBalance: 100n });
    expect(refusal(await move(service, key("rich"), "credit", 1), 422)).toMatch(/100/);
    refusal(await move(service, key("new"), "credit", 101), 422);
    accepted(await move(service, key("new"), "credit", 60));
    expect(await transferStatus(ledgerId, "rich", "new", 41)).toBe(422);
    expect(await transferStatus(ledgerId, "rich", "new", 40)).toBe("accepted");
    accepted(await move(service, key("rich"), "debit", 400));
    await engine.setRule(ledgerId, "USD", { maxBalance: null });
    accepted(await move(service, key("new"), "credit", 1_000));
  });

  test("keep what is taken out in a day under dailyDebitMax, earlier debits of the day counted", async () => {
    const ledgerId = await service.books.createLedger();
    const key = `${ledgerId}:a`;
    accepted(await move(service, key, "credit", 1_000));
    accepted(await move(service, key, "debit", 30));
    await engine.setRule(ledgerId, "USD", { dailyDebitMax: 100n });
    refusal(await move(service, key, "debit", 71), 422);
    accepted(await move(service, key, "debit", 20));
    const holdId = await hold(service, key, 200);
    refusal(await resolve(service, key, holdId, "commit", { amount: "51" }), 422);
    accepted(await resolve(service, key, holdId, "commit", { amount: "10" }));
    expect(await transferStatus(ledgerId, "a", "b", 41)).toBe(422);
    expect(await transferStatus(ledgerId, "a", "b", 40)).toBe("accepted");
    refusal(await move(service, key, "debit", 1), 422);
    // What is taken out while there is no limit counts too, once there is one again.
    await engine.setRule(ledgerId, "USD", { dailyDebitMax: null });
    accepted(await move(service, key, "debit", 100));
    await engine.setRule(ledgerId, "USD", { dailyDebitMax: 250n });
    refusal(await move(service, key, "debit", 51), 422);
    accepted(await move(service, key, "debit", 50));
    // A wallet of whom nothing is kept yet.
    refusal(await move(service, `${ledgerId}:b`, "debit", 41), 422);
    accepted(await move(service, `${ledgerId}:b`, "debit", 40));
  });

  test("begin anew with the UTC day", async () => {
    const ledgerId = await service.books.createLedger();
    const key = `${ledgerId}:a`;
    await engine.setRule(ledgerId, "USD", { dailyDebitMax: 100n });
    accepted(await move(service, key, "credit", 1_000));
    accepted(await move(service, key, "debit", 100));
    refusal(await move(service, key, "debit", 1), 422);
    // As if all of it had been yesterday.
    await forge(
      service.books,
      `UPDATE wallet_writes SET at = ${dayBefore("at")} WHERE ledger_id = '${ledgerId}'`,
      `UPDATE wallets SET last_at = ${dayBefore("last_at")}, debited_on = debited_on - 1
        WHERE ledger_id = '${ledgerId}'`,
    );
    accepted(await move(service, key, "debit", 100));
    refusal(await move(service, key, "debit", 1), 422);
  });

  test("hold for concurrent debits", async () => {
    const ledgerId = await service.books.createLedger();
    const key = `${ledgerId}:a`;
    accepted(await move(service, key, "credit", 1_000));
    await engine.setRule(ledgerId, "USD", { dailyDebitMax: 100n });
    const replies = await Promise.all(
      Array.from({ length: 30 }, () => move(service, key, "debit", 9)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(11);
  });
});

describe("the list of wallets", () => {
  interface Page {
    readonly wallets: readonly {
      readonly callerKey: string;
      readonly assetCode: string;
      readonly frozenAt?: string;
    }[];
    readonly nextCursor: string | null;
  }
  const names = [
    "B",
    "a",
    "a1",
    "a\u{10ffff}",
    "a\u{10ffff}b",
    "b",
    "z",
    "ä",
    "\u{e000}",
    "\u{1f4b0}",
  ];
  let ledgerId: string;

  beforeAll(async () => {
    ledgerId = await service.books.createLedger();
    const write = { type: "credit", amount: "7" };
    const writes = names
      .toReversed()
      .map((callerKey) => ({ ...write, callerKey, assetCode: callerKey === "b" ? "EUR" : "USD" }));
    await service.post(`/v1/ledgers/${ledgerId}/wallet-writes`, { writes });
  });

  const list = async (query: string): Promise<Page> => {
    const reply = await service.get(`/v1/ledgers/${ledgerId}/wallets${query}`);
    expect(reply.status, reply.text).toBe(200);
    return reply.body as Page;
  };
  const keysOf = ({ wallets }: Page) => wallets.map(({ callerKey }) => callerKey);

  test("has their figures, by the UTF-8 bytes of their keys", async () => {
    const page = await list("");
    const bytes = (text: string) => Buffer.from(text);
    expect(keysOf(page)).toEqual(names.toSorted((x, y) => Buffer.compare(bytes(x), bytes(y))));
    await hold(service, `${ledgerId}:a1`, 3);
    const one = await list("?prefix=a1");
    const time = expect.stringMatching(/^\d{4}-.*Z$/) as string;
    expect(one).toEqual({
      wallets: [
        {
          ...{ callerKey: "a1", assetCode: "USD", balance: "7", available: "4", held: "3", seq: 2 },
          ...{ createdAt: time, updatedAt: time },
        },
      ],
      nextCursor: null,
    });
  });

  test("says since when a wallet is frozen", async () => {
    const frozenAt = async () => (await list("?prefix=a1")).wallets.map((each) => each.frozenAt);
    await control("freeze", `${ledgerId}:a1`);
    expect(await frozenAt()).toEqual([expect.stringMatching(/^\d{4}-.*Z$/)]);
    await control("unfreeze", `${ledgerId}:a1`);
    expect(await frozenAt()).toEqual([undefined]);
  });

  test("comes in pages that have each wallet once", async () => {
    const all = keysOf(await list(""));
    for (const filter of ["", "&prefix=a", "&assetCode=USD", "&assetCode=usd&prefix=a"]) {
      const found: string[] = [];
      let cursor = "";
      for (;;) {
        const page = await list(`?limit=2${filter}${cursor}`);
        found.push(...keysOf(page));
        if (page.nextCursor === null) break;
        expect(page.wallets).toHaveLength(2);
        cursor = `&cursor=${page.nextCursor}`;
      }
      const expected = all
        .filter((name) => !filter.includes("prefix") || name.startsWith("a"))
        .filter((name) => !filter.includes("assetCode") || name !== "b");
      expect(found, filter).toEqual(expected);
    }
    expect(keysOf(await list("?assetCode=EUR"))).toEqual(["b"]);
    expect(await list("?prefix=none")).toEqual({ wallets: [], nextCursor: null });
    const last = encodeURIComponent("a\u{10ffff}");
    expect(keysOf(await list(`?prefix=${last}&assetCode=USD`))).toHaveLength(2);
  });

  test.each(["?limit=0", "?cursor=x", "?cursor=%00", "?prefix=%00", "?assetCode=%24"])(
    "refuses %s",
    async (query) => {
      const reply = await service.get(`/v1/ledgers/${ledgerId}/wallets${query}`);
      expect(problem(reply)).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    },
  );
});
