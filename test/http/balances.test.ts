// Balances of accounts, in functional and in transaction currencies.
import { describe, expect, test } from "vitest";
import { updateAccountActive } from "../../src/store/accounts.ts";
import { entry, pointers, postEntry, problem, readBalance } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

describe("the balance of an account", () => {
  test("is 0 and 0 before anything is posted to it, in any currency", async () => {
    const ledgerId = await service.books.createLedger();
    for (const currency of [undefined, "USD", "EUR", "GOLD"]) {
      expect(await readBalance(service, "1000", currency, ledgerId)).toEqual({
        balance: 0n,
        entryCount: 0,
        currency: currency ?? "USD",
      });
    }
  });

  test("is a JSON number with all its digits, past 2^53 too", async () => {
    const ledgerId = await service.books.createLedger();
    const target = `/v1/ledgers/${ledgerId}/balances?account=`;
    await postEntry(service, entry(9_007_199_254_740_993n), ledgerId);
    expect((await service.get(`${target}1000`)).text).toBe(
      '{"glAccountCode":"1000","balance":9007199254740993,"currency":"USD","entryCount":1}',
    );
    expect((await service.get(`${target}4000`)).text).toContain('"balance":-9007199254740993,');
    const most = 10n ** 38n - 1n;
    for (let count = 0; count < 11; count += 1) await postEntry(service, entry(most), ledgerId);
    const sum = 11n * most + 9_007_199_254_740_993n;
    expect(sum.toString()).toHaveLength(40);
    expect((await service.get(`${target}1000`)).text).toContain(`"balance":${sum},`);
    expect((await service.get(`${target}4000`)).text).toContain(`"balance":-${sum},`);
  });

  test("counts entries, not lines", async () => {
    const ledgerId = await service.books.createLedger();
    const lines = [
      { glAccountCode: "1000", functionalAmount: "3" },
      { glAccountCode: "1000", functionalAmount: "4" },
      { glAccountCode: "1000", functionalAmount: "-2" },
      { glAccountCode: "4000", functionalAmount: "-5" },
    ];
    await postEntry(service, { lines }, ledgerId);
    await postEntry(service, { lines }, ledgerId);
    expect(await readBalance(service, "1000", undefined, ledgerId)).toMatchObject({
      balance: 10n,
      entryCount: 2,
    });
    expect(await readBalance(service, "4000", undefined, ledgerId)).toMatchObject({
      balance: -10n,
      entryCount: 2,
    });
  });

  test("counts an entry whose lines on the account cancel out", async () => {
    const ledgerId = await service.books.createLedger();
    const lines = [
      { glAccountCode: "1000", functionalAmount: "3" },
      { glAccountCode: "1000", functionalAmount: "-3" },
    ];
    await postEntry(service, { lines }, ledgerId);
    expect(await readBalance(service, "1000", undefined, ledgerId)).toMatchObject({
      balance: 0n,
      entryCount: 1,
    });
  });

  test("of one currency sums what was transacted in it, and in nothing else", async () => {
    const ledgerId = await service.books.createLedger();
    const line = (functionalAmount: string, more: object) => ({
      glAccountCode: "1000",
      functionalAmount,
      ...more,
    });
    await postEntry(
      service,
      {
        lines: [
          line("100", { transactionCurrency: "EUR", transactionAmount: "92" }),
          line("50", { transactionCurrency: "EUR", transactionAmount: "46" }),
          line("7", { transactionCurrency: "EUR", transactionAmount: "0" }),
          line("1", { transactionCurrency: "eur", transactionAmount: "1000" }),
          line("20", {}),
          { glAccountCode: "4000", functionalAmount: "-178" },
        ],
      },
      ledgerId,
    );
    await postEntry(service, entry(30n), ledgerId);
    const balances = await Promise.all(
      [undefined, "EUR", "eur", "USD", "CHF"].map((currency) =>
        readBalance(service, "1000", currency, ledgerId),
      ),
    );
    expect(balances).toEqual([
      { balance: 208n, entryCount: 2, currency: "USD" },
      { balance: 138n, entryCount: 1, currency: "EUR" },
      { balance: 1000n, entryCount: 1, currency: "eur" },
      { balance: 50n, entryCount: 2, currency: "USD" },
      { balance: 0n, entryCount: 0, currency: "CHF" },
    ]);
  });

  test("is that of its own ledger", async () => {
    const [one, two] = [await service.books.createLedger(), await service.books.createLedger()];
    await postEntry(service, entry(5n), one);
    expect((await readBalance(service, "1000", undefined, one)).balance).toBe(5n);
    expect((await readBalance(service, "1000", undefined, two)).balance).toBe(0n);
  });

  test("is in the ledger's currency", async () => {
    const ledgerId = await service.books.createLedger({ currency: "JPY" });
    await postEntry(service, entry(5n), ledgerId);
    expect(await readBalance(service, "1000", undefined, ledgerId)).toMatchObject({
      currency: "JPY",
    });
  });

  test("can be read of an inactive account", async () => {
    const ledgerId = await service.books.createLedger();
    await postEntry(service, entry(5n), ledgerId);
    await updateAccountActive(service.books.pool, ledgerId, "1000", false);
    expect((await readBalance(service, "1000", undefined, ledgerId)).balance).toBe(5n);
  });
});

describe("asking for a balance", () => {
  const get = (query: string) =>
    service.get(`/v1/ledgers/${service.books.ledgerId}/balances${query}`);

  test("needs an account", async () => {
    for (const query of ["", "?", "?currency=USD", "?Account=1000"]) {
      const reply = await get(query);
      expect(problem(reply).errors).toEqual([{ detail: "is required", parameter: "account" }]);
    }
  });

  test("of an account that there is not is 404", async () => {
    for (const account of ["no", "1000%20", "100", "1000'", "10%2500"]) {
      const reply = await get(`?account=${account}`);
      expect(problem(reply)).toMatchObject({ status: 404, code: "ACCOUNT_NOT_FOUND" });
    }
  });

  test("takes each parameter once", async () => {
    expect(pointers(await get("?account=1000&account=1000"))).toEqual(["account"]);
    expect(pointers(await get("?account=1000&currency=USD&currency=EUR"))).toEqual(["currency"]);
    expect(pointers(await get("?account=1000&acc%6Funt=1000"))).toEqual(["account"]);
  });

  test("ignores parameters that it does not know", async () => {
    expect((await get("?account=1000&x=1&x=2&limit=abc&%zz=1")).status).toBe(200);
  });
});
