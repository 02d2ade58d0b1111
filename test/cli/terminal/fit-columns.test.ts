// What tables leave out and shorten on a narrow terminal.
import { describe, expect, it } from "vitest";
import {
  displayWidth,
  fitColumns,
  type FittingColumn,
} from "../../../src/cli/terminal/fit-columns.ts";

interface Row {
  readonly code: string;
  readonly name: string;
  readonly type: string;
  readonly opening: string;
  readonly closing: string;
}

const rows: readonly Row[] = [
  {
    code: "1000",
    name: "Accounts receivable",
    type: "asset",
    opening: "0.00 EUR",
    closing: "-7498.00 EUR",
  },
  {
    code: "wallets-clearing:EUR",
    name: "大阪の財布",
    type: "liability",
    opening: "12.50 EUR",
    closing: "7498.00 EUR",
  },
  { code: "total", name: "", type: "", opening: "", closing: "0.00 EUR" },
];

const columns: readonly FittingColumn<Row>[] = [
  { title: "ACCOUNT", cutTo: 12, isCutInMiddle: true, value: ({ code }) => code },
  { title: "NAME", cutTo: 12, leaveOut: 2, value: ({ name }) => name },
  { title: "TYPE", leaveOut: 1, value: ({ type }) => type },
  { title: "OPENING", isAmount: true, value: ({ opening }) => opening },
  { title: "CLOSING", isAmount: true, value: ({ closing }) => closing },
];

const linesOf = (of: readonly Row[], width: number | null) => {
  const { columns: shown, leftOut } = fitColumns(of, columns, width);
  const lines = of.map((_, index) => shown.map(({ cells }) => cells[index] ?? ""));
  const total = shown.reduce((sum, column) => sum + column.width, 2 * (shown.length - 1));
  return { titles: shown.map(({ title }) => title), lines, leftOut, total };
};

describe("a table", () => {
  it("is as it is where nobody says how much room there is", () => {
    const { titles, lines, leftOut } = linesOf(rows, null);
    expect(titles).toEqual(["ACCOUNT", "NAME", "TYPE", "OPENING", "CLOSING"]);
    expect(lines[0]).toEqual(["1000", "Accounts receivable", "asset", "0.00 EUR", "-7498.00 EUR"]);
    expect(leftOut).toEqual([]);
  });

  it("has the currency once, and digits in groups, on a terminal of any width", () => {
    const { titles, lines, leftOut } = linesOf(rows, 200);
    expect(titles).toEqual(["ACCOUNT", "NAME", "TYPE", "OPENING EUR", "CLOSING EUR"]);
    expect(lines[0]).toEqual(["1000", "Accounts receivable", "asset", "0.00", "-7,498.00"]);
    expect(leftOut).toEqual([]);
    const amounts = ["1234567.00 EUR", "-123 EUR", "1000 EUR", "999.99 EUR", "", "-1000000.5 EUR"];
    const one = [{ title: "X", isAmount: true, value: (amount: string) => amount }];
    expect(fitColumns(amounts, one, 80).columns[0]?.cells).toEqual([
      ...["1,234,567.00", "-123", "1,000", "999.99", "", "-1,000,000.5"],
    ]);
  });

  it("has the currency of all amounts in the titles first", () => {
    const { titles, lines, leftOut } = linesOf(rows, 76);
    expect(titles).toEqual(["ACCOUNT", "NAME", "TYPE", "OPENING EUR", "CLOSING EUR"]);
    expect(lines.map((cells) => cells[4])).toEqual(["-7,498.00", "7,498.00", "0.00"]);
    expect(lines[2]?.[3]).toBe("");
    expect(leftOut).toEqual([]);
  });

  it("keeps currencies beside amounts that differ in them", () => {
    const mixed = rows.map((row, index) => (index === 0 ? { ...row, closing: "5 JPY" } : row));
    const { titles, lines } = linesOf(mixed, 74);
    expect(titles).toContain("CLOSING");
    expect(lines.map((cells) => cells[4])).toEqual(["5 JPY", "7,498.00 EUR", "0.00 EUR"]);
  });

  it("cuts texts then, and leaves out columns in their order", () => {
    const cut = linesOf(rows, 66);
    expect(cut.lines[1]?.slice(0, 3)).toEqual(["wallet…ng:EUR", "大阪の財布", "liability"]);
    expect(cut.lines[0]?.[1]).toBe("Accounts rece…");
    expect(cut.leftOut).toEqual([]);
    expect(linesOf(rows, 56)).toMatchObject({
      titles: ["ACCOUNT", "NAME", "OPENING EUR", "CLOSING EUR"],
      leftOut: ["TYPE"],
    });
    expect(linesOf(rows, 40)).toMatchObject({
      titles: ["ACCOUNT", "OPENING EUR", "CLOSING EUR"],
      leftOut: ["NAME", "TYPE"],
    });
  });

  it("has short titles where the long ones do not fit, and never in a pipe", () => {
    const long = "2026-11-01 to 2026-11-24T20:13:12.123Z";
    const [code, name] = columns;
    const moving: FittingColumn<Row>[] = [code, name].flatMap((column) => column ?? []);
    moving.push({
      title: long,
      shortTitle: "to date",
      isAmount: true,
      value: (row) => row.closing,
    });
    const at = (width: number | null) => {
      const { columns: shown } = fitColumns(rows, moving, width);
      return shown.map(({ title }) => title);
    };
    expect(at(null)).toEqual(["ACCOUNT", "NAME", long]);
    expect(at(100)).toEqual(["ACCOUNT", "NAME", `${long} EUR`]);
    expect(at(80)).toEqual(["ACCOUNT", "NAME", "to date EUR"]);
  });

  it("leaves out amounts that are all zero, and empty columns without a word", () => {
    const zero = rows.map((row) => ({ ...row, opening: "0.00 EUR", type: "" }));
    const { titles, leftOut } = linesOf(zero, 60);
    expect(titles).toEqual(["ACCOUNT", "NAME", "CLOSING EUR"]);
    expect(leftOut).toEqual(["OPENING EUR (all zero)"]);
  });

  it("leaves out from right to left what nobody said may go, amounts last, but not the first and the last amount", () => {
    const ids = [
      { title: "ID", value: () => "0190b6a0-1111-7000-8000-00000000000c" },
      { title: "NAME", value: () => "Cash" },
      { title: "DEBITS", isAmount: true, value: () => "12.00 EUR" },
      { title: "CREDITS", isAmount: true, value: () => "-12.00 EUR" },
      { title: "STATE", value: () => "active" },
    ];
    const at = (width: number) => {
      const { columns: shown, leftOut } = fitColumns([null], ids, width);
      return [shown.map(({ title }) => title).join(), leftOut.join()];
    };
    expect(at(75)).toEqual(["ID,NAME,DEBITS EUR,CREDITS EUR,STATE", ""]);
    expect(at(74)).toEqual(["ID,NAME,DEBITS EUR,CREDITS EUR", "STATE"]);
    expect(at(66)).toEqual(["ID,DEBITS EUR,CREDITS EUR", "NAME,STATE"]);
    expect(at(60)).toEqual(["ID,DEBITS EUR,CREDITS EUR", "NAME,STATE"]);
    expect(fitColumns([null], ids, 60).columns[0]?.width).toBe(35);
    expect(at(32)).toEqual(["ID,CREDITS EUR", "NAME,DEBITS EUR,STATE"]);
    expect(at(9)).toEqual(["ID,CREDITS EUR", "NAME,DEBITS EUR,STATE"]);
  });

  it("never breaks a number, and is no wider than the terminal as long as they fit", () => {
    for (let width = 1; width < 120; width += 1) {
      const { lines, titles, total } = linesOf(rows, width);
      const closing = titles.findIndex((title) => title.startsWith("CLOSING"));
      expect(lines.map((cells) => cells[closing]?.replace(" EUR", ""))).toEqual([
        ...["-7,498.00", "7,498.00", "0.00"],
      ]);
      if (width >= 25) expect(total).toBeLessThanOrEqual(width);
    }
  });
});

it("takes wide characters for two columns, those of half width for one, and marks and joiners for none", () => {
  const texts = ["abc", "大阪", "カ", "ｶﾅ", "e\u0301", "\u0e17\u0e35\u0e48", "a\u200db", "😀"];
  expect(texts.map(displayWidth)).toEqual([3, 4, 2, 2, 1, 1, 2, 2]);
});
