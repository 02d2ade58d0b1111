// Credits and debits: what they answer, externalIds, and what a refused write leaves behind.
import { describe, expect, test } from "vitest";
import { countRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";
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
  walletPath,
} from "../support/wallets.ts";

const service = serveBooks();

describe("a credit", () => {
  test("answers exactly status, balance and available, as strings", async () => {
    const key = newKey(service);
    const reply = await move(service, key, "credit", 250);
    expect(reply.status).toBe(200);
    expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(reply.body).toEqual({ status: "accepted", balance: "250", available: "250" });
    const second = await move(service, key, "credit", 1);
    expect(second.body).toEqual({ status: "accepted", balance: "251", available: "251" });
    await expectFigures(service, key, 251);
  });

  test("of 38 digits, many times, stays exact past 38 digits", async () => {
    const key = newKey(service);
    const most = 10n ** 38n - 1n;
    for (let times = 1n; times <= 11n; times += 1n) {
      const { balance } = accepted(await move(service, key, "credit", most));
      expect(balance).toBe(String(most * times));
    }
    accepted(await move(service, key, "debit", 1n));
    await expectFigures(service, key, most * 11n - 1n);
  });
});

describe("a debit", () => {
  test("takes what is there, to the last unit", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 100));
    expect(accepted(await move(service, key, "debit", 60))).toEqual({
      status: "accepted",
      balance: "40",
      available: "40",
    });
    expect(accepted(await move(service, key, "debit", 40)).balance).toBe("0");
    refusal(await move(service, key, "debit", 1), 422);
  });

  test("over what is available is 422 and changes nothing", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 100));
    await hold(service, key, 30);
    refusal(await move(service, key, "debit", 71), 422);
    await expectFigures(service, key, 100, 70);
    expect(await readWalletLog(service, key)).toHaveLength(2);
    expect(accepted(await move(service, key, "debit", 70))).toMatchObject({
      balance: "30",
      available: "0",
    });
  });
});

describe("a refused first write", () => {
  test.each(["debit", "reserve"] as const)(
    "(%s) makes no wallet, binds no asset and uses up no externalId",
    async (verb) => {
      const key = newKey(service);
      const first = await move(service, key, verb, 5, { assetCode: "first-try", externalId: "x" });
      refusal(first, 422);
      expect(await readWalletLog(service, key)).toEqual([]);
      const callerKey = key.slice(37);
      const query = "SELECT 1 FROM wallets WHERE caller_key = $1";
      expect(await countRows(service, query, [callerKey])).toBe(0);
      const rules = "SELECT 1 FROM asset_rules WHERE asset_code = 'first-try'";
      expect(await countRows(service, rules)).toBe(0);
      const accounts = "SELECT 1 FROM accounts WHERE gl_account_code LIKE '%first-try'";
      expect(await countRows(service, accounts)).toBe(0);
      const next = await move(service, key, "credit", 7, { assetCode: "EUR", externalId: "x" });
      expect(accepted(next).balance).toBe("7");
    },
  );

  test("leaves its externalId free for the same debit later", async () => {
    const key = newKey(service);
    refusal(await move(service, key, "debit", 5, { externalId: "later" }), 422);
    accepted(await move(service, key, "credit", 5));
    accepted(await move(service, key, "debit", 5, { externalId: "later" }));
    expectDuplicate(await move(service, key, "debit", 5, { externalId: "later" }), "0");
  });
});

describe("a balance read", () => {
  test("of a wallet never written answers 0 and 0, and creates nothing", async () => {
    const key = newKey(service);
    expect(await readFigures(service, key)).toEqual({ balance: "0", available: "0" });
    const history = await service.get(walletPath(key, "history"));
    expect(history.body).toEqual({ writes: [], hasMore: false });
    const query = "SELECT 1 FROM wallets WHERE caller_key = $1";
    expect(await countRows(service, query, [key.slice(37)])).toBe(0);
  });

  test("is up to date the moment the write before it is answered", async () => {
    const key = newKey(service);
    for (let total = 1; total <= 30; total += 1) {
      accepted(await move(service, key, "credit", 1));
      await expectFigures(service, key, total);
    }
  });
});

describe("an externalId", () => {
  test("used again answers duplicate with the current figures, and changes nothing", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 100, { externalId: "one" }));
    accepted(await move(service, key, "credit", 11));
    const again = await move(service, key, "credit", 100, { externalId: "one" });
    expect(again.body).toEqual({ status: "duplicate", balance: "111", available: "111" });
    expect(await readWalletLog(service, key)).toHaveLength(2);
  });

  test("is one for credits, debits and reservations of a wallet", async () => {
    const key = newKey(service);
    const verbs = ["credit", "debit", "reserve"] as const;
    accepted(await move(service, key, "credit", 1000));
    for (const first of verbs) {
      accepted(await move(service, key, first, 10, { externalId: first }));
      const figures = await readFigures(service, key);
      for (const second of verbs) {
        const reply = await move(service, key, second, 10, { externalId: first });
        expectDuplicate(reply, figures.balance, figures.available);
      }
    }
    expect(await readWalletLog(service, key)).toHaveLength(4);
  });

  test("answers duplicate whatever the rest of the body says", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 100, { externalId: "one" }));
    const others = [
      { amount: "99999999999999999999999999999999999999" },
      { assetCode: "another-asset" },
      { metadata: "other" },
      { amount: "7", assetCode: "EUR", metadata: null },
    ];
    for (const other of others) {
      for (const verb of ["credit", "debit", "reserve"] as const) {
        const reply = await move(service, key, verb, 1, { externalId: "one", ...other });
        expectDuplicate(reply, "100");
      }
    }
  });

  test("is of its wallet and of its ledger alone", async () => {
    const otherLedger = await service.books.createLedger();
    const name = "same name";
    const keys = [
      `${service.books.ledgerId}:${name}`,
      `${otherLedger}:${name}`,
      `${service.books.ledgerId}:${name} too`,
    ];
    for (const key of keys) {
      const reply = await move(service, key, "credit", 3, { externalId: "shared" });
      expect(accepted(reply).balance).toBe("3");
    }
  });

  test("compares byte for byte, up to 256 code points", async () => {
    const key = newKey(service);
    const ids = ["a", "A", "\u00e9", "e\u0301", " a", "a ", "\t", "😀".repeat(256)];
    for (const externalId of ids) accepted(await move(service, key, "credit", 1, { externalId }));
    for (const externalId of ids) {
      expectDuplicate(await move(service, key, "credit", 1, { externalId }), String(ids.length));
    }
    for (const externalId of ["", "😀".repeat(257), "a\0", "\ud800", 7, {}]) {
      refusal(await move(service, key, "credit", 1, { externalId }), 400);
    }
  });

  test("that is null or left out is none: the same write counts twice", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 1, { externalId: null }));
    accepted(await move(service, key, "credit", 1, { externalId: null }));
    expect(accepted(await move(service, key, "credit", 1)).balance).toBe("3");
  });
});

describe("a wallet", () => {
  test("belongs to the asset of its first write", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 5, { assetCode: "tokens" }));
    for (const verb of ["credit", "debit", "reserve"] as const) {
      const error = refusal(await move(service, key, verb, 1), 400);
      expect(error).toBe("assetCode must be tokens, the asset of the wallet");
    }
    refusal(await move(service, key, "credit", 1, { assetCode: "Tokens" }), 400);
    accepted(await move(service, key, "credit", 1, { assetCode: "tokens" }));
    await expectFigures(service, key, 6);
  });

  test("is told the asset before what it lacks", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 5));
    refusal(await move(service, key, "debit", 100, { assetCode: "EUR" }), 400);
    refusal(await move(service, key, "debit", 100), 422);
  });
});
