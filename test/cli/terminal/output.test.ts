// No text of others may command the terminal that it is shown on.
import { describe, expect, it, vi } from "vitest";
import { CommandFailure, describeFailure, exitCodes } from "../../../src/cli/failure.ts";
import { displayWidth } from "../../../src/cli/terminal/fit-columns.ts";
import { members, Output, toJson, type OutputOptions } from "../../../src/cli/terminal/output.ts";
import { printable, printableLines } from "../../../src/cli/terminal/printable.ts";
import { ServiceProblem } from "../../../src/client/errors.ts";

const range = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index));

const controls = [
  ...range(0x00, 0x1f),
  ...range(0x7f, 0x9f),
  ...range(0x200e, 0x200f),
  ...range(0x202a, 0x202e),
  ...range(0x2066, 0x2069),
];
const hostile = `a${controls.join("")}b`;
const isShown = (text: string) => controls.some((control) => text.includes(control));

describe("text of others", () => {
  it("is shown with its control characters as escapes, and all else as it is", () => {
    for (const control of controls) {
      const code = control.charCodeAt(0).toString(16).padStart(4, "0");
      expect(printable(`a${control}b`)).toBe(`a\\u${code}b`);
    }
    const harmless = "Café № 7 – 東京 🎉 \u00a0x";
    expect(printable(harmless)).toBe(harmless);
    expect(printableLines("one\ntwo\r\n\u001b[2J")).toBe("one\ntwo\\u000d\n\\u001b[2J");
  });

  it("keeps to its cell of a table and to its line of a document", () => {
    const output = new Output({}, true);
    const table = output.table([hostile], [{ title: "NAME", value: (name) => name }]);
    expect(table.split("\n")).toHaveLength(2);
    expect(isShown(table.replace("\n", ""))).toBe(false);
    expect(isShown(members({ name: hostile }))).toBe(false);
  });

  it("has a line of its own where a document's member is too long for a terminal", () => {
    const document = { name: "short", closeHash: "0123456789abcdef" };
    const aligned = "name       short\ncloseHash  0123456789abcdef";
    expect(members(document)).toBe(aligned);
    expect(members(document, 27)).toBe(aligned);
    expect(members(document, 26)).toBe("name       short\ncloseHash\n  0123456789abcdef");
  });

  it("of any writing keeps to its column of a table", () => {
    const names = ["Bank", "大阪の財布", "ธนาคารที่ดี", "ｶ)ﾃｽﾄ", "e\u0301te\u0301", "شَرِكَة"];
    const table = new Output({}, true).table(names, [
      { title: "NAME", value: (name) => name },
      { title: "AMOUNT", align: "right", value: () => "1.00 EUR" },
    ]);
    const [title = "", ...rows] = table.split("\n");
    expect(title).toBe("NAME          AMOUNT");
    expect(new Set(rows.map(displayWidth))).toEqual(new Set([displayWidth(title)]));
  });

  it("keeps to its place in the message of a failure", () => {
    const problem = new ServiceProblem({
      status: 400,
      problem: {
        detail: hostile,
        code: hostile as "LEDGER_CLOSED",
        journalId: hostile,
        errors: [
          { detail: hostile, pointer: hostile },
          { detail: hostile, parameter: hostile },
        ],
      },
      requestId: hostile,
      retryAfterSeconds: null,
      wasRepeated: false,
    });
    const lines = describeFailure(problem).split("\n");
    expect(lines).toHaveLength(5);
    expect(isShown(lines.join(""))).toBe(false);
    const failure = new CommandFailure(`no account ${hostile}\nsee above`, exitCodes.notFound);
    expect(isShown(describeFailure(failure).replaceAll("\n", ""))).toBe(false);
  });

  it("is the same value in JSON, without the controls that JSON leaves raw", () => {
    const text = toJson({ name: hostile });
    expect(JSON.parse(text)).toEqual({ name: hostile });
    for (const control of range(0x7f, 0x9f)) expect(text).not.toContain(control);
  });
});

it("does not tell anybody to repeat a write that may be recorded already, without more", () => {
  const unknown = new ServiceProblem({
    status: 503,
    problem: {
      detail: "it could not be learned whether this was written",
      code: "OUTCOME_UNKNOWN",
    },
    requestId: "1",
    retryAfterSeconds: 1,
    wasRepeated: false,
  });
  expect(describeFailure(unknown)).toContain("Without one, look first whether it is there.");
  expect(describeFailure(unknown)).not.toContain("Try again");
});

describe("a verdict", () => {
  const shown = (isTerminal: boolean, options: OutputOptions, isColorRefused = false) => {
    const stdout = process.stdout;
    const { isTTY } = stdout;
    const write = vi.spyOn(stdout, "write").mockReturnValue(true);
    try {
      stdout.isTTY = isTerminal;
      const output = new Output(options, isColorRefused);
      output.verdict(true, "verified", ": all");
      output.verdict(false, "FAILED", `: ${hostile}`);
      return write.mock.calls.map(([text]) => String(text)).join("");
    } finally {
      stdout.isTTY = isTTY;
      write.mockRestore();
    }
  };

  it("is green or red on a terminal, and text of others behind it can't be", () => {
    const text = shown(true, {});
    expect(text).toContain("\u001b[32mverified\u001b[39m: all\n\u001b[31mFAILED\u001b[39m: a");
    expect(text.split("\u001b")).toHaveLength(5);
  });

  it("has no colour in a pipe, with --no-color, and with NO_COLOR", () => {
    for (const text of [shown(false, {}), shown(true, { color: false }), shown(true, {}, true)]) {
      expect(text).toMatch(/^verified: all\nFAILED: a/);
      expect(text).not.toContain("\u001b");
    }
  });
});
