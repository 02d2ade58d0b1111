// JSON whose numbers lose nothing, read and written.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  parseExactJson,
  stringifyExactJson,
  wholeNumberAt,
} from "../../src/contract/exact-json.ts";

const inexactIn = (text: string) =>
  parseExactJson(text).inexactNumbers.map(({ path, text: number }) => [path.join("/"), number]);

describe("numbers of a document", () => {
  test.each([
    "0",
    "-0",
    "0.0",
    "1",
    "-1",
    "1.50",
    "0.1",
    "1e21",
    "1E+21",
    "1000e-3",
    "0e999",
    "9007199254740992",
    "18014398509481984",
    "1e23",
    "100000000000000000000000",
    "5e-324",
    "1.7976931348623157e308",
    "0.000001",
    "123456789012345",
  ])("are held exactly: %s", (number) => {
    expect(inexactIn(`{"n":${number}}`)).toEqual([]);
  });

  test.each([
    "1e400",
    "-1e400",
    "0.1234567890123456789",
    "9007199254740993",
    "-9007199254740993",
    "1e-400",
    "123456789012345678",
    "0.30000000000000001",
    "2e-324",
    "1.7976931348623157e309",
  ])("are not held exactly: %s", (number) => {
    expect(inexactIn(`{"n":${number}}`)).toEqual([["n", number]]);
  });

  test("may be as long as a body, and take no longer than the rest of it", () => {
    const zeros = "0".repeat(1_000_000);
    expect(inexactIn(`{"n":0.1${zeros}}`)).toEqual([]);
    expect(inexactIn(`{"n":1e-${zeros}1}`)).toEqual([]);
    for (const number of [`0.1${zeros}1`, `1e-1${zeros}`, `1${zeros}e-1${zeros}`]) {
      expect(inexactIn(`{"n":${number}}`)).toEqual([["n", number]]);
    }
  });

  test("are told with their path, through arrays, objects and escaped names", () => {
    const text = '{"a":[1,{"b\\"\\u002f":[2,1e999]},"1e999"],"c":{"d":9007199254740993},"e":1e999}';
    expect(parseExactJson(text).inexactNumbers).toEqual([
      { path: ["a", 1, 'b"/', 1], text: "1e999" },
      { path: ["c", "d"], text: "9007199254740993" },
      { path: ["e"], text: "1e999" },
    ]);
  });

  test("are not looked for inside of strings", () => {
    expect(inexactIn('{"a":"1e400","1e400":"\\"1e400,","b":["\\\\",1]}')).toEqual([]);
  });

  test("that stand alone are the document", () => {
    expect(parseExactJson(" 1e400 ").inexactNumbers).toEqual([{ path: [], text: "1e400" }]);
  });

  test("count only where they were kept: the last of duplicate keys wins", () => {
    expect(inexactIn('{"a":1e400,"a":1}')).toEqual([]);
    expect(inexactIn('{"a":1,"a":1e400}')).toEqual([["a", "1e400"]]);
    expect(inexactIn('{"a":{"b":1e400},"a":{"c":2}}')).toEqual([]);
  });

  test("are exact just when their decimal value is the double's shortest form", () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{0,24}$/);
    fc.assert(
      fc.property(digits, fc.integer({ min: -30, max: 30 }), (whole, exponent) => {
        const text = `${whole}e${exponent}`;
        const shortest = Number(text).toExponential();
        const [significand = "", power = ""] = shortest.split("e");
        const shift = (significand.split(".")[1] ?? "").length;
        // Both as integers over one power of ten.
        const scale = 400n;
        const given = BigInt(whole) * 10n ** (scale + BigInt(exponent));
        const held =
          BigInt(significand.replace(".", "")) * 10n ** (scale + BigInt(power) - BigInt(shift));
        expect(inexactIn(`[${text}]`).length === 0).toBe(given === held);
      }),
      { numRuns: 500 },
    );
  });
});

describe("reading a document", () => {
  test("gives what JSON.parse gives", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseExactJson(text).value).toEqual(JSON.parse(text));
      }),
    );
  });

  test("finds all of ECMAScript's own numbers exact", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(inexactIn(JSON.stringify([number]))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each(["", "{", "{'a':1}", "[1,]", "01", "+1", "NaN", "\ufeff{}", "{}{}"])(
    "throws SyntaxError on '%s'",
    (text) => {
      expect(() => parseExactJson(text)).toThrow(SyntaxError);
    },
  );

  test("keeps a member called __proto__ as a member", () => {
    const { value } = parseExactJson('{"__proto__":{"a":1}}');
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
  });

  test("survives nesting as deep as a body is long", () => {
    const text = `${"[".repeat(500_000)}1e1${"]".repeat(500_000)}`;
    expect(parseExactJson(text).inexactNumbers).toEqual([]);
  });
});

describe("a whole number of a document", () => {
  test("has all its digits, however large it is", () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.nat(30), (factor, zeros) => {
        const number = factor * 10n ** BigInt(zeros);
        const text = `{"before":{"n":1},"s":"\\"n\\":2","n":${number},"after":[3]}`;
        expect(wholeNumberAt(text, "n")).toBe(number);
      }),
    );
  });

  test.each(['{"n":"1"}', '{"n":1.5}', '{"m":1}', '{"m":{"n":1}}', "1"])(
    "is none in %s",
    (text) => {
      expect(wholeNumberAt(text, "n")).toBeNull();
    },
  );
});

describe("writing a document", () => {
  test("writes bigints as numbers with all their digits", () => {
    expect(stringifyExactJson({ a: [-(10n ** 40n), 1n], b: "1" })).toBe(
      `{"a":[-1${"0".repeat(40)},1],"b":"1"}`,
    );
  });

  test("leaves out what is undefined and keeps what is null", () => {
    expect(stringifyExactJson({ a: undefined, b: null })).toBe('{"b":null}');
  });

  test("agrees with JSON.stringify where there are no bigints", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stringifyExactJson(value as never)).toBe(JSON.stringify(value));
      }),
    );
  });
});
