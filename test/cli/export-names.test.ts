// Account codes and currencies as names for other programs: readable by them, each its own, and to be undone.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accountTypes } from "../../src/core/ledger.ts";
import { accountName, commodityName } from "../../src/cli/commands/export/journal-names.ts";

/** What docs/cli.md tells people to do. */
function codeOf(name: string): string {
  const [, code = ""] = /^(?:Equity:X-untyped|[A-Z][a-z]+):(.*)$/su.exec(name) ?? [];
  return code
    .split(":")
    .map((part) => part.replace(/^X/, ""))
    .map((part) => part.replace(/(?:-[0-9A-F]{2})+/g, (bytes) => fromHex(bytes)))
    .join(":");
}

const fromHex = (bytes: string) => Buffer.from(bytes.replaceAll("-", ""), "hex").toString("utf8");

const code = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((text) => text.isWellFormed() && !text.includes("\0"));
const type = fc.constantFrom(...accountTypes, null);

describe("an account's name", () => {
  it.each([
    ["1000", "asset", "Assets:1000"],
    ["wallets:USD", "liability", "Liabilities:Xwallets:USD"],
    ["X1", "income", "Income:XX1"],
    ["petty cash", "expense", "Expenses:Xpetty-20cash"],
    ["Kasse-2", "equity", "Equity:Kasse-2D2"],
    ["Ücret::", null, "Equity:X-untyped:Ücret:X:X"],
  ] as const)("of %s, %s, is known in advance", (glAccountCode, accountType, name) => {
    expect(accountName(glAccountCode, accountType)).toBe(name);
  });

  it("is one that beancount reads, and leads back to the code", () => {
    fc.assert(
      fc.property(code, type, (glAccountCode, accountType) => {
        const name = accountName(glAccountCode, accountType);
        expect(name).toMatch(/^[A-Z][a-z]+(?::[\p{Lu}\p{Nd}][\p{L}\p{Nd}-]*)+$/u);
        expect(codeOf(name)).toBe(glAccountCode);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a commodity's name", () => {
  it("is the code where that is a name, and else has the code's hash in it", () => {
    expect(commodityName("USD")).toBe("USD");
    expect(commodityName("API.CALLS")).toBe("API.CALLS");
    expect(commodityName("points")).toMatch(/^POINTS-[0-9A-F]{10}$/);
    expect(commodityName("1")).toMatch(/^C1-[0-9A-F]{10}$/);
    expect(commodityName("USD-0123456789")).not.toBe("USD-0123456789");
  });

  it("is one that beancount reads, and not another's", () => {
    fc.assert(
      fc.property(code, code, (one, other) => {
        expect(commodityName(one)).toMatch(/^[A-Z][A-Z0-9'._-]{0,22}[A-Z0-9]$/);
        expect(commodityName(one) === commodityName(other)).toBe(one === other);
      }),
      { numRuns: 500 },
    );
  });
});
