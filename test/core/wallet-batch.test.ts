// A batch of wallet writes: what it makes, what it leaves alone, and what it has to have posted.
import { describe, expect, test } from "vitest";
import { defaultAssetRule } from "../../src/core/asset.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { decideWalletBatch } from "../../src/core/wallet-batch.ts";
import { keyOf, type WalletSnapshot } from "../../src/core/wallet-batch-state.ts";
import type { Hold, WalletState, WalletWrite } from "../../src/core/wallet.ts";

const now = "2026-03-01T12:00:00.000Z" as Timestamp;
const ledger = { ledgerId: "l", organizationId: "o", functionalCurrency: "USD" };

function snapshot(more: Partial<WalletSnapshot> = {}): WalletSnapshot {
  return {
    ledger,
    status: "active",
    now,
    wallets: new Map(),
    rules: new Map([["USD", defaultAssetRule("USD", "USD")]]),
    idempotencyKeys: new Map(),
    namedHolds: new Map(),
    ...more,
  };
}

function wallet(callerKey: string, more: Partial<WalletState["wallet"]> = {}, holds: Hold[] = []) {
  const figures = { balance: 100n, held: 0n, lastSeq: 1, lastAt: now, logHash: null };
  const controls = { frozenAt: null, debitedOn: null, debited: null };
  const state: WalletState = {
    wallet: {
      walletId: `id ${callerKey}`,
      callerKey,
      assetCode: "USD",
      ...figures,
      ...controls,
      ...more,
    },
    activeHolds: new Map(holds.map((hold) => [hold.holdId, hold])),
  };
  return [callerKey, state] as const;
}

function write<Type extends "credit" | "debit">(
  type: Type,
  callerKey: string,
  amount: bigint,
  more = {},
) {
  const common = { assetCode: "USD", externalId: null, metadata: null };
  return { type, callerKey, amount, ...common, ...more };
}

let ids = 0;
const decide = (given: WalletSnapshot, items: WalletWrite[]) =>
  decideWalletBatch(given, items, () => `new ${(ids += 1)}`);

const words = (outcomes: ReturnType<typeof decide>["outcomes"]) =>
  outcomes.map((one) => ("reply" in one ? one.reply.status : one.refusal.problem));

describe("a batch", () => {
  test("makes the rules of new assets in one order, whatever the order of its writes", () => {
    const of = (...assetCodes: string[]) =>
      decide(
        snapshot({ rules: new Map() }),
        assetCodes.map((assetCode) => write("credit", assetCode, 1n, { assetCode })),
      ).newRules.map(({ assetCode }) => assetCode);
    expect(of("USD", "GEM", "EUR")).toEqual(["EUR", "GEM", "USD"]);
    expect(of("EUR", "USD", "GEM")).toEqual(["EUR", "GEM", "USD"]);
  });

  test("lets each write see those before it", () => {
    const batch = decide(snapshot(), [
      write("debit", "a", 1n),
      write("credit", "a", 5n, { externalId: "k" }),
      write("debit", "a", 5n),
      write("debit", "a", 1n),
      write("credit", "a", 5n, { externalId: "k" }),
    ]);
    expect(words(batch.outcomes)).toEqual([
      "insufficientFunds",
      "accepted",
      "accepted",
      "insufficientFunds",
      "duplicate",
    ]);
    expect(batch.writes.map(({ seq, balance }) => [seq, balance])).toEqual([
      [1, 5n],
      [2, 0n],
    ]);
  });

  test("of refused writes makes no wallet, no rule and nothing to post", () => {
    const items = [
      write("debit", "a", 1n, { assetCode: "x" }),
      { type: "commit", callerKey: "b", holdId: "h", amount: null } as const,
      { type: "release", callerKey: "b", holdId: null } as const,
    ];
    const { outcomes, ...rest } = decide(snapshot(), items);
    expect(words(outcomes)).toEqual(["insufficientFunds", "holdNotFound", "holdNotFound"]);
    expect(rest).toEqual({ wallets: [], writes: [], holds: [], newRules: [], pendingPostings: [] });
  });

  test("makes a rule for an asset that is used for the first time, once", () => {
    const items = ["a", "b"].map((key) => write("credit", key, 1n, { assetCode: "x" }));
    const { newRules } = decide(snapshot(), items);
    expect(newRules).toEqual([defaultAssetRule("x", "USD")]);
  });

  test("names wallets in one order, new ones and others", () => {
    const given = snapshot({ wallets: new Map([wallet("b")]) });
    const { wallets } = decide(given, [write("credit", "b", 1n), write("credit", "a", 1n)]);
    expect(wallets.map(({ wallet, before }) => [wallet.callerKey, before === null])).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });

  test("logs once that a hold has expired, whoever is told so, and frees what it held", () => {
    const figures = { walletId: "id a", amount: 40n, expiresAt: now };
    const hold: Hold = { holdId: "h", ...figures, status: "active" };
    const given = snapshot({
      wallets: new Map([wallet("a", { held: 40n }, [hold])]),
      namedHolds: new Map([["h", hold]]),
    });
    const resolve = { callerKey: "a", holdId: "h" };
    const resolves: WalletWrite[] = [
      { type: "commit", ...resolve, amount: null },
      { type: "release", ...resolve },
    ];
    expect(decide(given, resolves).writes).toMatchObject([{ seq: 2, type: "expire" }]);
    const batch = decide(given, [...resolves, write("debit", "a", 100n)]);
    expect(words(batch.outcomes)).toEqual(["holdResolved", "holdResolved", "accepted"]);
    expect(batch.writes.map(({ seq, type, held }) => [seq, type, held])).toEqual([
      [2, "expire", 0n],
      [3, "debit", 0n],
    ]);
    expect(batch.holds).toEqual([{ ...hold, status: "expired" }]);
  });

  test("logs that a hold has expired when transfers of one request are refused for it, whichever found it", () => {
    const hold: Hold = {
      holdId: "h",
      walletId: "id a",
      amount: 40n,
      expiresAt: now,
      status: "active",
    };
    const given = snapshot({
      wallets: new Map([wallet("a", { held: 40n }, [hold]), wallet("b")]),
      namedHolds: new Map([["h", hold]]),
    });
    const transfer = {
      type: "transfer",
      from: "a",
      to: "b",
      assetCode: "USD",
      amount: 10n,
      externalId: null,
      metadata: null,
      fromHold: null,
    } as const;
    const transfers = [transfer, { ...transfer, fromHold: { holdId: "h" } }];
    const batch = decideWalletBatch(given, [{ type: "atomic-transfers", transfers }], () => "id");
    expect(words(batch.outcomes)).toEqual(["holdResolved"]);
    expect(batch.writes).toMatchObject([{ walletId: "id a", seq: 2, type: "expire", held: 0n }]);
    expect(batch.holds).toEqual([{ ...hold, status: "expired" }]);
  });

  test("tells duplicates before state, asset and figures", () => {
    const idempotencyKeys = new Map([[keyOf("a", "k"), { holdId: "h", transferId: null }]]);
    const given = snapshot({ status: "closed", wallets: new Map([wallet("a")]), idempotencyKeys });
    const batch = decide(given, [
      write("debit", "a", 999n, { externalId: "k", assetCode: "x" }),
      write("credit", "a", 1n),
    ]);
    expect(words(batch.outcomes)).toEqual(["duplicate", "ledgerClosed"]);
    expect(batch.outcomes[0]).toMatchObject({ reply: { balance: 100n, holdId: "h" } });
  });
});

describe("the pending postings of a batch", () => {
  test("are one for credits and one for debits of each asset, with the writes they hold", () => {
    const given = snapshot({ wallets: new Map([wallet("a"), wallet("b", { lastSeq: 7 })]) });
    const batch = decide(given, [
      write("credit", "a", 1n),
      write("debit", "a", 2n),
      write("credit", "a", 4n),
      write("credit", "b", 8n),
    ]);
    expect(batch.pendingPostings).toMatchObject([
      {
        side: "credit",
        amount: 13n,
        writeCount: 3,
        spans: [
          { walletId: "id a", firstSeq: 2, lastSeq: 4 },
          { walletId: "id b", firstSeq: 8, lastSeq: 8 },
        ],
      },
      { side: "debit", amount: 2n, writeCount: 1 },
    ]);
    const [credits, debits] = batch.pendingPostings.map(({ pendingPostingId }) => pendingPostingId);
    expect(batch.writes.map(({ pendingPostingId }) => pendingPostingId)).toEqual([
      credits,
      debits,
      credits,
      credits,
    ]);
  });

  test("never span midnight: a wallet whose clock is ahead has its own day", () => {
    const lastAt = "2026-03-02T00:00:00.000Z" as Timestamp;
    const given = snapshot({ wallets: new Map([wallet("a"), wallet("ahead", { lastAt })]) });
    const { pendingPostings, writes } = decide(given, [
      write("credit", "a", 1n),
      write("credit", "ahead", 2n),
    ]);
    expect(writes.map(({ at }) => at)).toEqual([now, lastAt]);
    expect(pendingPostings.map(({ acceptedTo, amount }) => [acceptedTo, amount])).toEqual([
      [now, 1n],
      [lastAt, 2n],
    ]);
  });

  test("leave out what moves no money", () => {
    const reserve: WalletWrite = {
      ...write("credit", "a", 10n),
      type: "reserve",
      expiresInSeconds: null,
    };
    const given = snapshot({ wallets: new Map([wallet("a")]) });
    const { pendingPostings, writes } = decide(given, [reserve]);
    expect(pendingPostings).toEqual([]);
    expect(writes.map(({ pendingPostingId }) => pendingPostingId)).toEqual([null]);
  });
});
