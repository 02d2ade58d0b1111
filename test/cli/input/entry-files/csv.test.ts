// A CSV of entries: which rows make an entry, and what is said of those that can't be read.
import { describe, expect, it } from "vitest";
import { entryFolder } from "./entry-file.ts";

const { read } = entryFolder();

const full =
  "externalId,transactionDate,eventType,originSystem,originAccount,entryType,description,metadata," +
  "glAccountCode,functionalAmount,functionalCurrency,transactionAmount,transactionCurrency,spotRate,lineDescription";

describe("a CSV of entries", () => {
  it("makes entries of adjacent rows, empty fields left out", async () => {
    const { bodies, found } = await read(
      "full.csv",
      `${full}\n` +
        'a,2026-03-15,sale,pos,till,ADJUSTING,Shoes,"{""tags"":[""x"",1.5]}",1000,100,USD,90,EUR,1.11,net\n' +
        'a,2026-03-15,sale,pos,till,ADJUSTING,Shoes,"{""tags"":[""x"",1.5]}",4000,-100,USD,-90,EUR,1.11,\n' +
        "b,,,,,,,,1000,5,,,,,\nb,,,,,,,,4000,-5,,,,,\n",
    );
    expect(bodies).toEqual([
      {
        externalId: "a",
        transactionDate: "2026-03-15T00:00:00.000Z",
        eventType: "sale",
        originSystem: "pos",
        originAccount: "till",
        entryType: "ADJUSTING",
        description: "Shoes",
        metadata: { tags: ["x", 1.5] },
        lines: [
          {
            glAccountCode: "1000",
            functionalAmount: "100",
            functionalCurrency: "USD",
            transactionAmount: "90",
            transactionCurrency: "EUR",
            spotRate: 1.11,
            description: "net",
          },
          {
            glAccountCode: "4000",
            functionalAmount: "-100",
            functionalCurrency: "USD",
            transactionAmount: "-90",
            transactionCurrency: "EUR",
            spotRate: 1.11,
          },
        ],
      },
      {
        externalId: "b",
        lines: [
          { glAccountCode: "1000", functionalAmount: "5" },
          { glAccountCode: "4000", functionalAmount: "-5" },
        ],
      },
    ]);
    expect(found.map(({ line }) => line)).toEqual([2, 4]);
  });

  it("takes columns in any order, CRLF, a byte order mark, and no line end at the end", async () => {
    const { bodies, faults } = await read(
      "order.csv",
      "\ufefffunctionalAmount,externalId,glAccountCode\r\n1,a,1000\r\n\r\n-1,a,4000",
    );
    expect(faults).toEqual([]);
    expect(bodies).toHaveLength(1);
  });

  it("reads quoted commas, quotes and line ends as they stand", async () => {
    const { bodies, found } = await read(
      "quotes.csv",
      'externalId,description,glAccountCode,functionalAmount\r\na,"x, ""y""\r\nz",1000,1\r\na,,4000,-1\r\nb,ü😀,"1000","2"\r\nb,,4000,-2\r\n',
    );
    expect(bodies.map(({ description }) => description)).toEqual(['x, "y"\r\nz', "ü😀"]);
    expect(found.map(({ line }) => line)).toEqual([2, 5]);
  });

  it.each([
    ["glAccountCode,name\n", /lacks the column functionalAmount/],
    ["glAccountCode,functionalAmount,externalID\n", /the column "externalID" is not known/],
    ["glAccountCode;functionalAmount\n", /separated by semicolons/],
    ["glAccountCode,functionalAmount,glAccountCode\n", /glAccountCode is there twice/],
    ['glAccountCode,"functionalAmount\n', /a quote is opened and never closed/],
    ["", /the CSV is empty/],
  ])("refuses the header %j", async (text, message) => {
    await expect(read("header.csv", text)).rejects.toThrow(message);
  });

  it("names line and column of a value that can't be read, and posts the other entries", async () => {
    const { bodies, faults } = await read(
      "values.csv",
      "externalId,metadata,glAccountCode,functionalAmount,spotRate\n" +
        'a,"{""k"":}",1000,1,\na,,4000,-1,\n' +
        'b,"{""k"":{""n"":1e999}}",1000,1,\nb,,4000,-1,\n' +
        "c,[],1000,1,\nc,,4000,-1,\n" +
        'd,,1000,1,"1,5"\nd,,4000,-1,\n' +
        "e,,1000,1,0.12345678901234567891\ne,,4000,-1,\n" +
        "f,,1000,1,\nf,{},4000,-1,\n" +
        "g,,1000,1,1.5\ng,,4000,-1,\n",
    );
    expect(faults).toEqual([
      'line 2, column metadata: k: expected value, found "}"',
      "line 4, column metadata: k.n: 1e999 can't be held exactly; write it as a string",
      "line 6, column metadata: must be a JSON object",
      'line 8, column spotRate: must be a number such as 1.0837, not "1,5"',
      "line 10, column spotRate: 0.12345678901234567891 can't be held exactly",
      "line 13, column metadata: differs from line 12, which is of the same entry",
    ]);
    expect(bodies.map(({ externalId }) => externalId)).toEqual(["g"]);
  });

  it("does not post the entries around a row that can't be read, and posts the others", async () => {
    const sale = (id: string) => `${id},1000,1\n${id},4000,-1\n`;
    const { bodies, faults } = await read(
      "broken.csv",
      `externalId,glAccountCode,functionalAmount\n${sale("a")}${sale("b")}x,1000\n${sale("c")}${sale("d")}e,"1000"x,1\ne,4000,-1\n${sale("f")}`,
    );
    expect(faults).toEqual([
      "line 6: 2 fields, but the header has 3",
      "line 4: not posted, because line 6 can't be read and may belong to this entry",
      "line 7: not posted, because line 6 can't be read and may belong to this entry",
      "line 11, column 2: something follows the closing quote",
      "line 9: not posted, because line 11 can't be read and may belong to this entry",
      "line 12: not posted, because line 11 can't be read and may belong to this entry",
    ]);
    expect(bodies.map(({ externalId }) => externalId)).toEqual(["a", "f"]);
  });

  it("loses one row, not the rest of the file, to a quote that is never closed", async () => {
    const sale = (id: string) => `${id},1000,1\n${id},4000,-1\n`;
    const { bodies, faults } = await read(
      "unclosed.csv",
      `externalId,glAccountCode,functionalAmount\n${sale("a")}${sale("b")}x,"1000,1\n${sale("c")}${sale("d")}${sale("e")}`,
    );
    expect(faults[0]).toBe("line 6: a quote is opened and never closed");
    expect(faults).toHaveLength(3);
    expect(bodies.map(({ externalId }) => externalId)).toEqual(["a", "d", "e"]);
  });

  it("names the line of invalid UTF-8 inside of a row", async () => {
    const { faults } = await read(
      "latin1.csv",
      Buffer.from(
        'externalId,description,glAccountCode,functionalAmount\na,"x\nM\xfcller",1000,1\n',
        "latin1",
      ),
    );
    expect(faults).toEqual(["line 3: not valid UTF-8"]);
  });

  it("keeps rows of one externalId together, whatever sums to zero on the way", async () => {
    const { bodies } = await read(
      "cogs.csv",
      "externalId,glAccountCode,functionalAmount\na,1000,100\na,4000,-100\na,5000,60\na,1300,-60\n",
    );
    expect(bodies.map(({ lines }) => (lines as unknown[]).length)).toEqual([4]);
  });

  it("ends entries without an externalId where they sum to zero, or say something else, and remarks it", async () => {
    const { bodies, remarks, externalIds } = await read(
      "noid.csv",
      "description,glAccountCode,functionalAmount\n" +
        "Coffee,5000,3\nCoffee,1000,-3\nCoffee,5000,3\nCoffee,1000,-3\n" +
        "Tea,5000,2\nTea,5100,2\nTea,1000,-4\n",
    );
    expect(bodies.map(({ lines }) => (lines as unknown[]).length)).toEqual([2, 2, 3]);
    expect(new Set(externalIds).size).toBe(3);
    expect(remarks).toHaveLength(1);
    expect(remarks[0]).toContain("line 4: rows without an externalId");
  });

  it("does not hold more lines of an entry than tell that there are too many", async () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => `a,1000,${index + 1}`).join("\n");
    const { bodies } = await read(
      "many.csv",
      `externalId,glAccountCode,functionalAmount\n${rows}\n`,
    );
    expect((bodies[0]?.["lines"] as unknown[]).length).toBe(1_001);
  });
});
