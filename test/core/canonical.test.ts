// Canonical JSON (RFC 8785) and the leaves of entries, against an oracle.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalEntry, canonicalJson, entryLeaf } from "../../src/core/canonical.ts";
import type { Entry, JsonValue } from "../../src/core/journal.ts";
import { hashLeaf } from "../../src/core/merkle.ts";
import { canonicalText, type LeafDocument } from "../support/canonical-oracle.ts";

function readVectors(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), "utf8"));
}

describe("canonical JSON (RFC 8785)", () => {
  test("writes numbers as section 3.2.2.3 does", () => {
    expect(
      canonicalJson([333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001]),
    ).toBe("[333333333.3333333,1e+30,4.5,0.002,1e-27]");
  });

  // Appendix B: IEEE 754 bits in hex and the JSON they become.
  test.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("writes the double %s as %s", (bits, expected) => {
    expect(canonicalJson(Buffer.from(bits, "hex").readDoubleBE(0))).toBe(expected);
  });

  test("sorts members by UTF-16 code units (section 3.2.3)", () => {
    const value = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    const order = [...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map(([, name]) => name);
    expect(order).toEqual([
      "Carriage Return",
      "One",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
  });

  test("escapes text as section 3.2.2.2 does, and no more", () => {
    expect(canonicalJson('\u20ac$\u000f\nA\'B"\\\\"/\b\t\f\r\u001f\u2028\u007f')).toBe(
      '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\\b\\t\\f\\r\\u001f\u2028\u007f"',
    );
  });

  test("keeps a member called __proto__", () => {
    const value = JSON.parse('{"b":1,"__proto__":{"a":2}}') as JsonValue;
    expect(canonicalJson(value)).toBe('{"__proto__":{"a":2},"b":1}');
  });

  test("agrees with a second hand on any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(value as JsonValue)).toBe(canonicalText(value));
      }),
    );
  });
});

describe("leaves", () => {
  const vectors = readVectors("entry-leaf.json") as {
    name: string;
    entry: LeafDocument;
    canonical: string;
    leaf: string;
  }[];

  test.each(vectors)("of entries agree with the vector '$name'", ({ entry, canonical, leaf }) => {
    const stored = {
      ...entry,
      lines: entry.lines.map((line) => ({
        ...line,
        transactionAmount: BigInt(String(line["transactionAmount"])),
        functionalAmount: BigInt(String(line["functionalAmount"])),
      })),
    } as unknown as Entry;
    expect(canonicalEntry(stored)).toBe(canonical);
    expect(entryLeaf(stored).toString("hex")).toBe(leaf);
    const hash = createHash("sha256")
      .update(Buffer.from([0]))
      .update(canonical);
    expect(hash.digest("hex")).toBe(leaf);
  });

  test("of data agree with the vectors of RFC 6962", () => {
    const merkle = readVectors("merkle.json") as { leafData: string[]; leaves: string[] };
    const hashes = merkle.leafData.map((data) => hashLeaf(Buffer.from(data, "hex")));
    expect(hashes.map((hash) => hash.toString("hex"))).toEqual(merkle.leaves);
    expect(merkle.leaves).toHaveLength(8);
  });

  test("of text are those of its UTF-8 bytes", () => {
    expect(hashLeaf("ß😀")).toEqual(hashLeaf(Buffer.from("ß😀", "utf8")));
  });
});
