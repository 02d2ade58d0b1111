// Entries as texts to edit: what is written is read as the same entry, and faults have their lines.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EntryInput, EntryLineInput } from "../../src/client/ledger-client.ts";
import { readEditedEntry } from "../../src/cli/commands/entry/edited-entry.ts";
import { writeEntry } from "../../src/cli/commands/entry/written-entry.ts";
import { amountsOfLine } from "../../src/cli/input/typed-amount.ts";

const exponents: Readonly<Record<string, number>> = { EUR: 2, USD: 2, JPY: 0, KWD: 3 };
const exponentOf = (code: string) => exponents[code] ?? 0;
const units = { functionalCurrency: "EUR", exponentOf, isMajor: true };

function read(text: string): EntryInput {
  const { labels, lines, faults } = readEditedEntry(text, {});
  expect(faults, text).toEqual([]);
  return {
    ...labels,
    lines: lines.map(({ glAccountCode, amount, description }) => ({
      glAccountCode,
      ...amountsOfLine(glAccountCode, amount, units),
      ...(description === null ? {} : { description }),
    })),
  };
}

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }),
  fc.constantFrom(
    'say "hi"',
    '"',
    "# no",
    "a; b",
    " x ",
    "two\nlines",
    "two\u2028lines",
    "date: x",
    "1 2.00 USD",
    "Cash 5",
  ),
);

const aLine: fc.Arbitrary<EntryLineInput> = fc
  .record({
    glAccountCode: text,
    amount: fc.bigInt(1n, 10n ** 30n),
    sign: fc.constantFrom(1n, -1n),
    currency: fc.constantFrom("EUR", "USD", "JPY", "KWD"),
    transaction: fc.bigInt(0n, 10n ** 30n),
    spotRate: fc.constantFrom(null, 0.92, 1.5, 12, 1e-7),
    description: fc.option(text),
  })
  .map(({ glAccountCode, amount, sign, currency, transaction, spotRate, description }) => ({
    glAccountCode,
    functionalAmount: String(sign * amount),
    ...(currency === "EUR"
      ? {}
      : {
          transactionAmount: String(sign * transaction),
          transactionCurrency: currency,
          // What is no plain decimal is no rate that somebody types.
          ...(spotRate === null || spotRate < 1e-6 ? {} : { spotRate }),
        }),
    ...(description === null ? {} : { description }),
  }));

describe("an entry as a text", () => {
  it("is read as what was written, whatever its texts are", () => {
    const anEntry = fc.record({
      transactionDate: fc.constantFrom("2026-03-15T00:00:00.000Z", "2026-03-15T12:30:00.500Z"),
      entryType: fc.constantFrom("STANDARD" as const, "OPENING" as const),
      description: text,
      externalId: text,
      metadata: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean())),
      lines: fc.array(aLine, { minLength: 0, maxLength: 5 }),
    });
    fc.assert(
      fc.property(anEntry, (entry) => {
        expect(read(writeEntry(entry, "EUR", exponentOf, []))).toEqual(entry);
      }),
    );
  });

  it("lists the active accounts as comments, which are not read", () => {
    const accounts = [
      { glAccountCode: "1000", name: "Cash", type: "asset" as const, active: true },
      { glAccountCode: "9999", name: "Old", type: null, active: false },
    ];
    const written = writeEntry({ lines: [] }, "EUR", exponentOf, accounts);
    expect(written).toContain("#   1000  Cash\n");
    expect(written).not.toContain("9999");
    expect(read(written)).toEqual({ entryType: "STANDARD", metadata: {}, lines: [] });
  });

  it("may be typed with single blanks, tabs and line ends of Windows", () => {
    const typed =
      "date:2026-03-15\r\n\r\nPetty cash 5.00\r\n1100\t-5.00 USD @@ 5 ;  paid ; twice\r\n";
    expect(read(typed)).toEqual({
      transactionDate: "2026-03-15T00:00:00.000Z",
      lines: [
        { glAccountCode: "Petty cash", functionalAmount: "500" },
        {
          glAccountCode: "1100",
          functionalAmount: "-500",
          transactionAmount: "-500",
          transactionCurrency: "USD",
          description: "paid ; twice",
        },
      ],
    });
  });

  it("has all its faults found at once, each with its line", () => {
    const typed = [
      "date: 2026-02-30",
      "type: REVERSAL",
      "type: OPENING",
      'description: "open',
      "metadata: [1]",
      "1000 12,50",
      "1000 5.00 EUX @ 1",
      "# comment",
      "4000 -5.00",
    ].join("\n");
    const { faults, lines, placeOf } = readEditedEntry(typed, {});
    expect(faults.map(({ line, detail }) => `${line} ${detail.split("\n")[0] ?? ""}`)).toEqual([
      "1 date 2026-02-30 is no date: 2026-02 has the days 01 to 28",
      "2 type can't be REVERSAL: `ledgerctl entry reverse ID` makes one",
      "3 type is there twice",
      expect.stringMatching(/^4 description is no JSON/),
      "5 metadata must be a JSON object",
      expect.stringMatching(/^6 a line is an account and an amount, .* not 1000 12,50$/),
      expect.stringMatching(/^7 1000 5.00 EUX @ 1: EUX is no currency of ISO 4217/),
    ]);
    expect(lines).toHaveLength(1);
    expect(placeOf("#/lines/0/functionalAmount")).toBe(9);
    expect(placeOf("#/transactionDate")).toBe(1);
    expect(placeOf("#/metadata/a/b")).toBe(5);
    expect(placeOf("#/lines")).toBeNull();
  });

  it("can't be written with a currency that could not be typed", () => {
    const line = { transactionAmount: "1", transactionCurrency: "US Dollar" };
    const entry = { lines: [{ glAccountCode: "1", functionalAmount: "1", ...line }] };
    expect(() => writeEntry(entry, "EUR", exponentOf, [])).toThrow(/"US Dollar", which can't be/);
  });
});
