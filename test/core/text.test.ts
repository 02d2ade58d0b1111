// Texts: their order by UTF-8 bytes, their length, what is broken in them; UUIDs.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { brokenTextFault, compareUtf8, parseUuid, textFault } from "../../src/core/text.ts";

describe("comparing texts by their UTF-8 bytes", () => {
  const oracle = (left: string, right: string) =>
    Math.sign(Buffer.compare(Buffer.from(left), Buffer.from(right)));

  test.each([
    ["", ""],
    ["", "a"],
    ["a", "ab"],
    ["Z", "a"],
    ["é", "z"],
    ["\uffff", "😀"],
    ["\ue000", "𐀀"],
    ["\ud7ff", "😀"],
    ["😀a", "😀b"],
    ["😀", "😁"],
    ["a\uffff", "a😀"],
  ])("agrees with Buffer.compare on '%s' and '%s'", (left, right) => {
    expect(Math.sign(compareUtf8(left, right))).toBe(oracle(left, right));
    expect(Math.sign(compareUtf8(right, left))).toBe(oracle(right, left));
  });

  test("agrees with Buffer.compare on any well-formed texts", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(fc.constantFrom("a", "\ud7ff", "\ue000", "\uffff", "𐀀", "😀", "\u{10ffff}"))
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(Math.sign(compareUtf8(left, right))).toBe(oracle(left, right));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("lengths of texts", () => {
  test.each([
    ["256 letters", "x".repeat(256), true],
    ["257 letters", "x".repeat(257), false],
    ["256 astral characters", "😀".repeat(256), true],
    ["257 astral characters", "😀".repeat(257), false],
    ["255 astral characters and a letter", `${"😀".repeat(255)}x`, true],
    ["nothing", "", false],
    ["one character", "x", true],
  ])("count code points: %s", (_, text, isFine) => {
    expect(textFault(text, 256) === null).toBe(isFine);
  });

  test("may begin at none", () => {
    expect(textFault("", 256, 0)).toBeNull();
  });
});

describe("broken texts", () => {
  test.each(["\0", "a\0b", "\ud800", "\udc00", "\ude00\ud83d", "a\ud83d"])("are %j", (text) => {
    expect(brokenTextFault(text)).not.toBeNull();
    expect(textFault(text, 256)).toBe(brokenTextFault(text));
  });

  test.each(["", "\u0001", "😀", "\ufeff", "\uffff"])("are not %j", (text) => {
    expect(brokenTextFault(text)).toBeNull();
  });
});

describe("UUIDs", () => {
  test("are read without regard to case", () => {
    const uuid = "0190B6A0-1111-7000-8000-00000000000A";
    expect(parseUuid(uuid)).toBe(uuid.toLowerCase());
  });

  test.each([
    "",
    "0190b6a0111170008000000000000000",
    "{0190b6a0-1111-7000-8000-00000000000a}",
    "0190b6a0-1111-7000-8000-00000000000",
    "0190b6a0-1111-7000-8000-00000000000g",
    "0190b6a0-1111-7000-8000-00000000000a\n",
    "urn:uuid:0190b6a0-1111-7000-8000-00000000000a",
  ])("are not '%s'", (text) => {
    expect(parseUuid(text)).toBeNull();
  });
});
