// Entry documents read as text: what is taken is an entry document in canonical form, to the byte.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalEntry, type EntryContent } from "../../src/core/canonical.ts";
import { entryTypes, isJsonObject, type JsonObject } from "../../src/core/journal.ts";
import { readCanonicalEntry } from "../../src/verify/canonical-entry.ts";
import { entryDocument } from "../../src/verify/documents.ts";

/** Parsed, checked by the schema and written again: the same the slow way. */
function readByWritingAgain(text: string) {
  try {
    const { data } = entryDocument.safeParse(JSON.parse(text));
    if (data === undefined || !text.isWellFormed() || canonicalEntry(data) !== text) return null;
    const { journalId, ledgerId, sequence, transactionDate, persistedAt } = data;
    const lines = data.lines.map(({ glAccountCode, functionalAmount, functionalCurrency }) => ({
      glAccountCode,
      functionalAmount,
      functionalCurrency,
    }));
    return { journalId, ledgerId, sequence, transactionDate, persistedAt, lines };
  } catch {
    return null;
  }
}

const wellFormed = fc
  .string({
    unit: fc.constantFrom(...'a 0 é 😀 " \\ / \0 \b \n \v \x1f \x7f \u2028 { } [ ] : ,'.split(" ")),
  })
  .filter((text) => text.isWellFormed());
const wellFormedOrNull = fc.option(wellFormed);
const uuid = fc.uuid({ version: 7 });
const time = fc
  .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
  .map((date) => date.toISOString());
const amount = fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }).map(String);
const metadata = fc.oneof(
  fc.dictionary(wellFormed, fc.oneof(wellFormed, fc.integer(), fc.boolean(), fc.constant(null))),
  fc.jsonValue().filter((value) => isJsonObject(value)),
) as fc.Arbitrary<JsonObject>;

const entries: fc.Arbitrary<EntryContent> = fc.record({
  ...{ journalId: uuid, ledgerId: uuid, sequence: fc.integer({ min: 1 }) },
  ...{ externalId: wellFormedOrNull, originSystem: wellFormedOrNull },
  ...{ originAccount: wellFormedOrNull, eventType: wellFormedOrNull },
  ...{ description: wellFormedOrNull, transactionDate: time, persistedAt: time, metadata },
  entryType: fc.constantFrom(...entryTypes),
  postingStatus: fc.constant("POSTED" as const),
  reversesJournalId: fc.option(uuid),
  lines: fc.array(
    fc.record({
      ...{ glAccountCode: wellFormed, description: wellFormedOrNull },
      ...{ transactionAmount: amount, transactionCurrency: wellFormed },
      ...{ functionalAmount: amount, functionalCurrency: wellFormed },
      spotRate: fc.option(fc.double({ noDefaultInfinity: true, noNaN: true })),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

describe("an entry document", () => {
  test("is read as it was written, whatever is in it", () => {
    fc.assert(
      fc.property(entries, (entry) => {
        const text = canonicalEntry(entry);
        const found = readCanonicalEntry(text);
        // Only what could be a lone surrogate is left to others.
        if (found === null) expect(text).toContain("\\ud");
        else expect(found).toEqual(readByWritingAgain(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test("is not taken with a character more, less or another, unless that is an entry as well", () => {
    const piece = fc.constantFrom(
      ...['"', "\\", ",", ":", "{", "}", "[", "]", "0", "1", "-", ".", "e", "a", " ", "\n", "null"],
      ...["\\u001f", "\\u000a", "\\ud800", "\ud800", ',"a":1', '"a":1,', "\u0001", "\u2028"],
    );
    fc.assert(
      fc.property(
        entries,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(2),
        piece,
        (...of) => {
          const [entry, share, cut, added] = of;
          const text = canonicalEntry(entry);
          const at = Math.floor(share * text.length);
          const changed = text.slice(0, at) + added + text.slice(at + cut);
          const found = readCanonicalEntry(changed);
          if (found !== null) expect(found, changed).toEqual(readByWritingAgain(changed));
        },
      ),
      { numRuns: 5_000 },
    );
  });
});

const id = "019b7824-3f00-748c-81ef-e05d071bbf1c";
const whole =
  `{"description":null,"entryType":"STANDARD","eventType":null,"externalId":"a","journalId":"${id}",` +
  `"ledgerId":"${id}","lines":[{"description":null,"functionalAmount":"5","functionalCurrency":"USD",` +
  `"glAccountCode":"1000","spotRate":1.5,"transactionAmount":"5","transactionCurrency":"USD"}],` +
  `"metadata":{"a":1,"b":{}},"originAccount":null,"originSystem":null,` +
  `"persistedAt":"2026-01-01T00:00:00.000Z","postingStatus":"POSTED","reversesJournalId":null,` +
  `"sequence":1,"transactionDate":"2026-02-28T00:00:00.000Z"}`;

test.each([
  ["a name twice", '"a":1,', '"a":1,"a":1,'],
  ["names in another order", '"a":1,"b":{}', '"b":{},"a":1'],
  ["plain names in another order", '{"a":1,"b":{}}', '{"a":1,"Z":2}'],
  ["a name that begins as the one before, before it", '{"a":1,"b":{}}', '{"a b":1,"a":2}'],
  ["a member more", '"originAccount":null', '"origin":1,"originAccount":null'],
  ["white space", '"lines":[', '"lines": ['],
  ["a number that another is written as", '"a":1', '"a":1.0'],
  ["zero with a sign", '"a":1', '"a":-0'],
  ["a rate that another is written as", "1.5", "1.50"],
  ["a rate that no double is", "1.5", "1e999"],
  ["a rate of several numbers", "1.5", "1.5.5"],
  ["an escape that is not needed", '"a",', '"\\u0061",'],
  ["an escape in capitals", '"a",', '"\\u001F",'],
  ["a long escape of what has a short one", '"a",', '"\\u000a",'],
  ["a control character", '"a",', '"\u0001",'],
  ["a lone surrogate", '"a",', '"\ud800",'],
  ["an escaped lone surrogate", '"a",', '"\\ud800",'],
  ["an escaped lone surrogate in metadata", '"a":1', '"a":"\\ud800"'],
  ["an amount with a zero in front", '"5"', '"05"'],
  ["an amount of minus zero", '"5"', '"-0"'],
  ["a day that no month has", "2026-02-28", "2026-02-30"],
  ["an hour that no day has", "T00:00:00.000Z", "T24:00:00.000Z"],
  ["a sequence of zero", '"sequence":1', '"sequence":0'],
  ["a sequence that no double holds", '"sequence":1', '"sequence":9007199254740993'],
  ["a comma behind the last line", "}],", "},],"],
  ["no line", /"lines":\[.*?\]/, '"lines":[]'],
  ["an id that is none", id, "019b7824"],
  ["something behind its end", /$/, " "],
  ["something before its start", /^/, " "],
] as const)("%s is not taken", (_, from, to) => {
  expect(readCanonicalEntry(whole)).not.toBeNull();
  const changed = whole.replace(from, to);
  expect(changed).not.toBe(whole);
  expect(readCanonicalEntry(changed)).toBeNull();
});
