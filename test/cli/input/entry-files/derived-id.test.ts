// ExternalIds made from the content of entries, so that a file can be posted twice.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DerivedIds } from "../../../../src/cli/input/entry-files/derived-id.ts";
import { Occurrences } from "../../../../src/cli/input/entry-files/occurrences.ts";
import { entry, entryFolder, ndjson } from "./entry-file.ts";

const { read } = entryFolder();

describe("derived externalIds", () => {
  it("are the SHA-256 of the canonical entry and how many like it came before", async () => {
    const canonical =
      '{"description":"ü","lines":[{"functionalAmount":"1","glAccountCode":"1000"},' +
      '{"functionalAmount":"-1","glAccountCode":"4000"}]}';
    const hash = createHash("sha256").update(canonical).digest("hex");
    const { externalIds } = await read(
      "same.ndjson",
      ndjson(entry(1, { description: "ü" }), entry(2), entry(1, { description: "ü" })),
    );
    expect([externalIds[0], externalIds[2]]).toEqual([`sha256-${hash}-0`, `sha256-${hash}-1`]);
  });

  it("are the same each time a file is read", async () => {
    const text = ndjson(entry(1), entry(1), entry(2), entry(1));
    const first = await read("again.ndjson", text);
    expect(new Set(first.externalIds).size).toBe(4);
    expect((await read("again.ndjson", text)).externalIds).toEqual(first.externalIds);
  });

  it("are the same in every format", async () => {
    const value = entry(7, { description: "d", metadata: { b: 1, a: "x" } });
    const inArray = await read("a.json", JSON.stringify([value], null, 2));
    const inLines = await read("a.ndjson", ndjson(value));
    const alone = await read("one.json", JSON.stringify(value));
    const inCsv = await read(
      "a.csv",
      'glAccountCode,metadata,description,functionalAmount\n1000,"{""a"":""x"",""b"":1}",d,7\n4000,"{""a"":""x"",""b"":1}",d,-7\n',
    );
    const [id] = inLines.externalIds;
    expect([inArray, alone, inCsv].map(({ externalIds }) => externalIds)).toEqual([
      [id],
      [id],
      [id],
    ]);
  });

  it("do not change with nulls, stated defaults, or another way to write the date", () => {
    const idOf = (body: object) => new DerivedIds().next(body as Record<string, never>);
    const plain = entry(1, { transactionDate: "2026-03-15T00:00:00.000Z" });
    const wordy = {
      externalId: null,
      description: null,
      metadata: {},
      entryType: "STANDARD",
      postingStatus: "POSTED",
      transactionDate: "2026-03-15T01:00+01:00",
      lines: entry(1)["lines"],
    };
    expect(idOf(wordy)).toBe(idOf(plain));
    const line = { glAccountCode: "1", functionalAmount: "1", functionalCurrency: "USD" };
    const sameCurrency = { ...line, transactionCurrency: "USD", transactionAmount: "1" };
    expect(idOf({ lines: [sameCurrency] })).toBe(idOf({ lines: [line] }));
    const other = { ...line, transactionCurrency: "EUR", transactionAmount: "1" };
    expect(idOf({ lines: [other] })).not.toBe(idOf({ lines: [line] }));
  });

  it("leave a given externalId as it is, and do not count its entry", async () => {
    const { externalIds, bodies } = await read(
      "given.ndjson",
      ndjson(entry(1, { externalId: "mine" }), entry(1), entry(1, { externalId: null })),
    );
    expect(externalIds[0]).toBe("mine");
    expect(externalIds[1]).toMatch(/-0$/);
    expect(externalIds[2]).toMatch(/-1$/);
    expect(bodies.map(({ externalId }) => externalId)).toEqual(externalIds);
  });
});

describe("counting occurrences", () => {
  it("counts as a map would", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 8_000 }), (values) => {
        const occurrences = new Occurrences();
        const expected = new Map<number, number>();
        for (const value of values) {
          const digest = createHash("sha256").update(String(value)).digest();
          const before = expected.get(value) ?? 0;
          if (occurrences.add(digest) !== before) return false;
          expected.set(value, before + 1);
        }
        return true;
      }),
      { numRuns: 15 },
    );
  });
});
