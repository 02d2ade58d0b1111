// Rates, and the states of a ledger: what waits, what is posted with a change of state, what can't be closed.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEngine, neverPosting, type TestEngine } from "../support/engine.ts";
import { listEntries, readBalance } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import {
  accepted,
  expectFigures,
  move,
  newKey,
  readWalletLog,
  refusal,
} from "../support/wallets.ts";

const service = serveBooks(neverPosting);
let engine: TestEngine;

beforeAll(() => {
  engine = openEngine(service.books.databaseUrl);
});

afterAll(() => engine.end());

async function functionalBalance(ledgerId: string, account: string): Promise<bigint> {
  return (await readBalance(service, account, undefined, ledgerId)).balance;
}

describe("a currency without a rate", () => {
  test("is accepted, waits, and is posted under its first rate", async () => {
    const ledgerId = await service.books.createLedger();
    const key = newKey(service, ledgerId);
    accepted(await move(service, key, "credit", 1001, { assetCode: "EUR" }));
    accepted(await move(service, key, "debit", 500, { assetCode: "EUR" }));
    accepted(await move(service, newKey(service, ledgerId), "credit", 5));
    await engine.post(ledgerId);
    expect((await listEntries(service, "", ledgerId)).total).toBe(1);
    await engine.setRule(ledgerId, "EUR", { rate: "1.0845" });
    await engine.setRule(ledgerId, "EUR", { rate: "2" });
    await engine.post(ledgerId);
    const { entries } = await listEntries(service, "", ledgerId);
    // 1001 × 1.0845 = 1085.58…; 500 × 1.0845 = 542.25.
    expect(entries[1]?.lines).toMatchObject([
      {
        glAccountCode: "wallets-clearing:EUR",
        transactionAmount: "1001",
        transactionCurrency: "EUR",
        functionalAmount: "1086",
        functionalCurrency: "USD",
        spotRate: 1.0845,
      },
      { glAccountCode: "wallets:EUR", transactionAmount: "-1001", functionalAmount: "-1086" },
      { glAccountCode: "wallets:EUR", transactionAmount: "500", functionalAmount: "542" },
      {
        glAccountCode: "wallets-clearing:EUR",
        transactionAmount: "-500",
        functionalAmount: "-542",
      },
    ]);
  });

  test("keeps the writes apart that were accepted under different rates", async () => {
    const ledgerId = await service.books.createLedger();
    const key = newKey(service, ledgerId);
    const credit = () => move(service, key, "credit", 10, { assetCode: "EUR" });
    await engine.setRule(ledgerId, "EUR", { rate: "2" });
    accepted(await credit());
    await engine.setRule(ledgerId, "EUR", { rate: "3" });
    accepted(await credit());
    await engine.post(ledgerId);
    const { entries, total } = await listEntries(service, "", ledgerId);
    expect(total).toBe(2);
    const amounts = entries.map(({ lines }) => lines[0]?.["functionalAmount"]);
    expect(new Set(amounts)).toEqual(new Set(["20", "30"]));
  });

  test("does not keep others from being posted", async () => {
    const ledgerId = await service.books.createLedger();
    for (let index = 0; index < 5; index += 1) {
      const key = newKey(service, ledgerId);
      accepted(await move(service, key, "credit", 10, { assetCode: "CHF" }));
    }
    accepted(await move(service, newKey(service, ledgerId), "credit", 7));
    await engine.post(ledgerId);
    expect(await functionalBalance(ledgerId, "wallets:USD")).toBe(-7n);
  });

  test("is counted one to one where it is the ledger's own", async () => {
    const ledgerId = await service.books.createLedger({ currency: "EUR" });
    accepted(await move(service, newKey(service, ledgerId), "credit", 7, { assetCode: "eur" }));
    await engine.post(ledgerId);
    expect(await functionalBalance(ledgerId, "wallets:EUR")).toBe(-7n);
  });
});

describe("the rule of an asset", () => {
  test("can lose its rate, but for the ledger's own currency: writes then wait for the next one", async () => {
    const ledgerId = await service.books.createLedger();
    const key = newKey(service, ledgerId);
    const creditAndPost = async () => {
      accepted(await move(service, key, "credit", 10, { assetCode: "EUR" }));
      await engine.post(ledgerId);
      return functionalBalance(ledgerId, "wallets:EUR");
    };
    await engine.setRule(ledgerId, "EUR", { rate: "2", exponent: 2 });
    expect(await creditAndPost()).toBe(-20n);
    await engine.setRule(ledgerId, "EUR", { rate: null });
    expect(await creditAndPost()).toBe(-20n);
    await engine.setRule(ledgerId, "EUR", { rate: "3" });
    await engine.post(ledgerId);
    expect(await functionalBalance(ledgerId, "wallets:EUR")).toBe(-50n);
    const taken = engine.setRule(ledgerId, "USD", { rate: null });
    await expect(taken).rejects.toMatchObject({ problem: "validation" });
  });

  test("may share its accounts with another: postings tell the assets apart", async () => {
    const ledgerId = await service.books.createLedger();
    const shared = { walletsAccount: "2000", clearingAccount: "1100" };
    await engine.setRule(ledgerId, "EUR", { ...shared, rate: "2" });
    await engine.setRule(ledgerId, "calls", { ...shared, rate: "0.1" });
    const [euros, calls] = [newKey(service, ledgerId), newKey(service, ledgerId)];
    accepted(await move(service, euros, "credit", 10, { assetCode: "EUR" }));
    accepted(await move(service, euros, "debit", 3, { assetCode: "EUR" }));
    accepted(await move(service, calls, "credit", 70, { assetCode: "calls" }));
    await engine.post(ledgerId);
    const { entries, total } = await listEntries(service, "", ledgerId);
    expect(total).toBe(2);
    for (const entry of entries) {
      expect(new Set(entry.lines.map((line) => line["transactionCurrency"])).size).toBe(1);
    }
    // What postings put on the wallets account is what the wallets hold, asset by asset.
    for (const [assetCode, held] of [
      ["EUR", 7n],
      ["calls", 70n],
    ] as const) {
      const { balance } = await readBalance(service, "2000", assetCode, ledgerId);
      expect(balance).toBe(-held);
    }
    expect(await functionalBalance(ledgerId, "2000")).toBe(-14n - 7n);
  });
});

describe("rounding", () => {
  test("is half to even over the running total: many small postings do not drift", async () => {
    const ledgerId = await service.books.createLedger();
    await engine.setRule(ledgerId, "EUR", { rate: "0.35" });
    const key = newKey(service, ledgerId);
    let credited = 0n;
    for (const amount of [1, 1, 1, 7, 2, 3, 1, 1, 10, 13, 5, 1, 1, 1, 1, 1]) {
      accepted(await move(service, key, "credit", amount, { assetCode: "EUR" }));
      credited += BigInt(amount);
      await engine.post(ledgerId);
      const pending = (await readWalletLog(service, key))
        .filter(({ journalId }) => journalId === null)
        .reduce((sum, row) => sum + BigInt(row.amount), 0n);
      // Half to even of posted × 35 / 100, in integers.
      const hundredths = (credited - pending) * 35n;
      const down = hundredths / 100n;
      const rest = hundredths % 100n;
      const expected = down + (rest > 50n || (rest === 50n && down % 2n === 1n) ? 1n : 0n);
      expect(await functionalBalance(ledgerId, "wallets:EUR")).toBe(-expected);
    }
  });

  test("that leaves nothing of a side leaves the side pending whole", async () => {
    const ledgerId = await service.books.createLedger();
    await engine.setRule(ledgerId, "EUR", { rate: "0.1" });
    const key = newKey(service, ledgerId);
    accepted(await move(service, key, "credit", 100, { assetCode: "EUR" }));
    accepted(await move(service, key, "debit", 5, { assetCode: "EUR" }));
    await engine.post(ledgerId);
    const [entry] = (await listEntries(service, "", ledgerId)).entries;
    expect(entry?.lines).toHaveLength(2);
    const journals = async () => (await readWalletLog(service, key)).map((row) => row.journalId);
    expect(await journals()).toEqual([entry?.journalId, null]);
    accepted(await move(service, key, "debit", 1, { assetCode: "EUR" }));
    await engine.post(ledgerId);
    const { entries } = await listEntries(service, "", ledgerId);
    expect(entries[1]?.lines).toMatchObject([
      { transactionAmount: "6", functionalAmount: "1" },
      { transactionAmount: "-6", functionalAmount: "-1" },
    ]);
    expect((await journals()).slice(1)).toEqual([entries[1]?.journalId, entries[1]?.journalId]);
  });
});

describe("suspending", () => {
  test("posts what is pending, nothing afterwards, and activating lets it go on", async () => {
    const ledgerId = await service.books.createLedger();
    const key = newKey(service, ledgerId);
    accepted(await move(service, key, "credit", 10));
    accepted(await move(service, newKey(service, ledgerId), "credit", 4, { assetCode: "EUR" }));
    expect(await engine.changeStatus(ledgerId, "suspended")).toEqual({ outcome: "done" });
    expect((await listEntries(service, "", ledgerId)).total).toBe(1);
    expect(await functionalBalance(ledgerId, "wallets:USD")).toBe(-10n);
    await engine.setRule(ledgerId, "EUR", { rate: "2" });
    await engine.post(ledgerId);
    expect((await listEntries(service, "", ledgerId)).total).toBe(1);
    refusal(await move(service, key, "credit", 1), 403);
    expect(await engine.changeStatus(ledgerId, "active")).toEqual({ outcome: "done" });
    accepted(await move(service, key, "credit", 1));
    await engine.post(ledgerId);
    expect(await functionalBalance(ledgerId, "wallets:USD")).toBe(-11n);
    expect(await functionalBalance(ledgerId, "wallets:EUR")).toBe(-8n);
  });

  test("twice is done, and posts nothing twice", async () => {
    const ledgerId = await service.books.createLedger();
    accepted(await move(service, newKey(service, ledgerId), "credit", 10));
    for (let times = 0; times < 2; times += 1) {
      expect(await engine.changeStatus(ledgerId, "suspended")).toEqual({ outcome: "done" });
    }
    expect((await listEntries(service, "", ledgerId)).total).toBe(1);
  });
});

describe("closing", () => {
  test("posts what is pending, and is for ever", async () => {
    const ledgerId = await service.books.createLedger();
    const key = newKey(service, ledgerId);
    accepted(await move(service, key, "credit", 10));
    expect(await engine.changeStatus(ledgerId, "closed")).toEqual({ outcome: "done" });
    expect(await functionalBalance(ledgerId, "wallets:USD")).toBe(-10n);
    expect(await engine.changeStatus(ledgerId, "active")).toEqual({ outcome: "closed" });
    refusal(await move(service, key, "credit", 1), 403);
    await expectFigures(service, key, 10);
  });

  test("is refused while a currency waits for its rate, and nothing is changed or posted", async () => {
    const ledgerId = await service.books.createLedger();
    const key = newKey(service, ledgerId);
    accepted(await move(service, key, "credit", 10, { assetCode: "EUR" }));
    accepted(await move(service, newKey(service, ledgerId), "credit", 3));
    expect(await engine.changeStatus(ledgerId, "closed")).toEqual({
      outcome: "waitingForRates",
      assetCodes: ["EUR"],
    });
    expect((await listEntries(service, "", ledgerId)).total).toBe(0);
    accepted(await move(service, key, "credit", 1, { assetCode: "EUR" }));
    await engine.setRule(ledgerId, "EUR", { rate: "1" });
    expect(await engine.changeStatus(ledgerId, "closed")).toEqual({ outcome: "done" });
    expect(await functionalBalance(ledgerId, "wallets:EUR")).toBe(-11n);
    expect(await functionalBalance(ledgerId, "wallets:USD")).toBe(-3n);
  });

  test("leaves what rounds to nothing pending, accounted for to the last unit", async () => {
    const ledgerId = await service.books.createLedger();
    await engine.setRule(ledgerId, "EUR", { rate: "0.001" });
    const key = newKey(service, ledgerId);
    accepted(await move(service, key, "credit", 1_499, { assetCode: "EUR" }));
    await engine.post(ledgerId);
    // Worth half a smallest unit, to even: nothing.
    accepted(await move(service, key, "debit", 500, { assetCode: "EUR" }));
    for (let times = 0; times < 3; times += 1) await engine.post(ledgerId);
    expect(await engine.changeStatus(ledgerId, "suspended")).toEqual({ outcome: "done" });
    expect(await engine.changeStatus(ledgerId, "closed")).toEqual({ outcome: "done" });
    await expectFigures(service, key, 999);
    expect(await functionalBalance(ledgerId, "wallets:EUR")).toBe(-1n);
    const posted = (await readBalance(service, "wallets:EUR", "EUR", ledgerId)).balance;
    const pending = (await readWalletLog(service, key)).filter((row) => row.journalId === null);
    expect(pending).toMatchObject([{ type: "debit", amount: "500" }]);
    expect(999n).toBe(-posted - 500n);
  });
});
