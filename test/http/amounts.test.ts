// Amounts, currencies and rates of the lines of an entry.
import { describe, expect, test } from "vitest";
import {
  entriesPath,
  entry,
  entryWithLine,
  listEntries,
  pointers,
  postAndRead,
  postEntry,
  problem,
  readBalance,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const post = (body: unknown) => service.post(entriesPath(service.books.ledgerId), body);
const nines = "9".repeat(38);

const malformed = [
  "",
  "-",
  "-0",
  "00",
  "+1",
  "01",
  "-01",
  "1.0",
  "1.",
  ".5",
  "1e3",
  "1E3",
  "0x10",
  " 1",
  "1 ",
  "1\n",
  "1_000",
  "1,000",
  "١",
  "１",
  "NaN",
  "Infinity",
  `1${"0".repeat(38)}`,
  `-1${"0".repeat(38)}`,
  1,
  -1,
  1.5,
  100,
  true,
  [],
  {},
  ["100"],
];

describe("a functional amount", () => {
  test.each([...malformed, "0"])("is refused: %j", async (functionalAmount) => {
    const reply = await post(entryWithLine({ functionalAmount }));
    expect(pointers(reply)).toEqual(["#/lines/0/functionalAmount"]);
  });

  test.each([null, undefined])("is required: %j", async (functionalAmount) => {
    const reply = await post(entryWithLine({ functionalAmount }));
    expect(problem(reply).errors).toEqual([
      { detail: "is required", pointer: "#/lines/0/functionalAmount" },
    ]);
  });

  test("says of zero that it must not be", async () => {
    const reply = await post(entryWithLine({ functionalAmount: "0" }));
    expect(problem(reply).errors).toMatchObject([{ detail: "must not be zero" }]);
  });

  test("may have 38 digits, and comes back with each of them", async () => {
    const read = await postAndRead(service, entry(BigInt(nines)));
    expect(read.lines).toMatchObject([
      { functionalAmount: nines, transactionAmount: nines },
      { functionalAmount: `-${nines}`, transactionAmount: `-${nines}` },
    ]);
  });

  test("may be one smallest unit", async () => {
    expect((await post(entry(1n))).status).toBe(201);
    expect((await post(entry(-1n))).status).toBe(201);
  });
});

describe("the sum of functional amounts", () => {
  test("must be zero", async () => {
    const reply = await post({
      lines: [...entry(5n).lines, { glAccountCode: "1000", functionalAmount: "1" }],
    });
    expect(problem(reply).errors).toEqual([
      { detail: "the functionalAmounts must sum to zero, but sum to 1", pointer: "#/lines" },
    ]);
  });

  test("is exact where a double's would not be", async () => {
    const lines = [
      { glAccountCode: "1000", functionalAmount: "9007199254740993" },
      { glAccountCode: "4000", functionalAmount: "-9007199254740992" },
    ];
    expect(pointers(await post({ lines }))).toEqual(["#/lines"]);
  });

  test("may pass 38 digits on the way", async () => {
    const lines = [
      ...Array.from({ length: 20 }, () => ({ glAccountCode: "1100", functionalAmount: nines })),
      ...Array.from({ length: 20 }, () => ({
        glAccountCode: "2000",
        functionalAmount: `-${nines}`,
      })),
    ];
    const before = await readBalance(service, "1100");
    await postEntry(service, { lines });
    await postEntry(service, { lines });
    const after = await readBalance(service, "1100");
    expect(after.balance - before.balance).toBe(40n * BigInt(nines));
    expect(after.entryCount - before.entryCount).toBe(2);
    const opposite = await readBalance(service, "2000");
    expect(opposite.balance).toBe(-40n * BigInt(nines));
  });

  test("is not told while one of the amounts can't be read", async () => {
    const lines = [...entry(5n).lines, { glAccountCode: "1000", functionalAmount: "x" }];
    expect(pointers(await post({ lines }))).toEqual(["#/lines/2/functionalAmount"]);
  });
});

describe("a transaction amount", () => {
  const foreign = { transactionCurrency: "EUR" };

  test.each(malformed)("is refused: %j", async (transactionAmount) => {
    const reply = await post(entryWithLine({ ...foreign, transactionAmount }));
    expect(pointers(reply)).toEqual(["#/lines/0/transactionAmount"]);
  });

  test.each(["1", "92", nines])(
    "of another currency may be any of the same sign: %s",
    async (amount) => {
      const read = await postAndRead(
        service,
        entryWithLine({ ...foreign, transactionAmount: amount }),
      );
      expect(read.lines[0]).toMatchObject({
        transactionAmount: amount,
        transactionCurrency: "EUR",
        functionalAmount: "100",
        functionalCurrency: "USD",
      });
    },
  );

  test("of another currency may be zero, for a pure revaluation", async () => {
    const read = await postAndRead(service, entryWithLine({ ...foreign, transactionAmount: "0" }));
    expect(read.lines[0]).toMatchObject({ transactionAmount: "0", functionalAmount: "100" });
  });

  test("of another currency must have the functional amount's sign", async () => {
    const reply = await post(entryWithLine({ ...foreign, transactionAmount: "-92" }));
    expect(problem(reply).errors).toEqual([
      {
        detail: "must have the same sign as functionalAmount",
        pointer: "#/lines/0/transactionAmount",
      },
    ]);
  });

  test("is required where the currencies differ", async () => {
    for (const transactionAmount of [undefined, null]) {
      const reply = await post(entryWithLine({ ...foreign, transactionAmount }));
      expect(problem(reply).errors).toMatchObject([
        {
          detail: expect.stringContaining("is required") as string,
          pointer: "#/lines/0/transactionAmount",
        },
      ]);
    }
  });

  test.each(["99", "101", "0", "-100"])(
    "of the same currency must be the functional one: %s",
    async (amount) => {
      for (const more of [
        {},
        { transactionCurrency: "USD" },
        { transactionCurrency: "USD", functionalCurrency: "USD" },
      ]) {
        const reply = await post(entryWithLine({ ...more, transactionAmount: amount }));
        expect(pointers(reply)).toEqual(["#/lines/0/transactionAmount"]);
      }
    },
  );

  test("of the same currency may be left out or said again", async () => {
    for (const more of [{ transactionAmount: "100" }, { transactionCurrency: "USD" }, {}]) {
      const read = await postAndRead(service, entryWithLine(more));
      expect(read.lines[0]).toMatchObject({
        transactionAmount: "100",
        transactionCurrency: "USD",
        functionalAmount: "100",
        functionalCurrency: "USD",
      });
    }
  });

  test("of a currency that differs in case is of another currency", async () => {
    const reply = await post(entryWithLine({ transactionCurrency: "usd" }));
    expect(pointers(reply)).toEqual(["#/lines/0/transactionAmount"]);
  });
});

describe("a functional currency", () => {
  test("must be the ledger's own", async () => {
    for (const functionalCurrency of ["EUR", "usd"]) {
      const reply = await post(
        entryWithLine({ functionalCurrency, transactionCurrency: "USD", transactionAmount: "1" }),
      );
      expect(pointers(reply)).toEqual(["#/lines/0/functionalCurrency"]);
    }
  });
});

describe("a spot rate", () => {
  test.each([1, 1.0845, 0.000001, 1e21, 5e-324, 1.7976931348623157e308])(
    "is kept: %d",
    async (spotRate) => {
      const read = await postAndRead(service, entryWithLine({ spotRate }));
      expect(read.lines[0]?.["spotRate"]).toBe(spotRate);
    },
  );

  test.each(["0", "-1", "-0", "1e400", "1e-400", '"1.5"', "true", "[]", "0.1234567890123456789"])(
    "is refused: %s",
    async (spotRate) => {
      const text = JSON.stringify(entryWithLine({ spotRate: 7 })).replace(
        '"spotRate":7',
        `"spotRate":${spotRate}`,
      );
      expect(pointers(await post(text))).toEqual(["#/lines/0/spotRate"]);
    },
  );

  test("is not checked against the amounts", async () => {
    const line = { transactionCurrency: "JPY", transactionAmount: "5", spotRate: 17 };
    expect((await post(entryWithLine(line))).status).toBe(201);
  });
});

test("what was refused has left nothing in the ledger", async () => {
  const { total } = await listEntries(service);
  for (const functionalAmount of malformed) await post(entryWithLine({ functionalAmount }));
  expect((await listEntries(service)).total).toBe(total);
});
