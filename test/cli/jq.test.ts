// `--jq`: what it prints is what jq makes of what --json prints, and no number is ever rounded.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it, vi } from "vitest";
import { isRunnable, pathOf, shownCommandsOf } from "../../src/cli/definition/command-tree.ts";
import { createProgram } from "../../src/cli/program.ts";
import { keepsNumbers } from "../../src/cli/terminal/exact-expression.ts";
import { loadJqFilter } from "../../src/cli/terminal/jq-filter.ts";
import { Output } from "../../src/cli/terminal/output.ts";
import { runHere } from "../support/program.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-jq-"));
const env = { LEDGERCTL_CONFIG: join(folder, "config.json") };
const profiles = Object.fromEntries(
  ["books", "ünlü 🎉", "  spaced  "].map((name) => [name, { url: `http://127.0.0.1:9/${name}` }]),
);
writeFileSync(env.LEDGERCTL_CONFIG, JSON.stringify({ currentProfile: "books", profiles }), {
  mode: 0o600,
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** What is printed of documents. */
async function printed(expression: string, ...documents: readonly string[]): Promise<string> {
  const filter = await loadJqFilter(expression);
  let text = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((part) => {
    text += String(part);
    return true;
  });
  try {
    for (const document of documents) filter.write(document);
    filter.end();
    return text;
  } finally {
    write.mockRestore();
  }
}

describe("--jq", () => {
  it("is an option of every command that has --json", () => {
    for (const command of shownCommandsOf(createProgram()).filter(isRunnable)) {
      const flags = command.options.map(({ long }) => long);
      expect(flags.includes("--jq"), pathOf(command)).toBe(flags.includes("--json"));
    }
  });

  it("implies --json, and runs once for each document of a list", async () => {
    const { code, stdout } = await runHere(["profile", "list", "--jq", ".name"], env);
    expect([code, stdout]).toEqual([0, "books\nünlü 🎉\n  spaced  \n"]);
    const counted = await runHere(["profile", "list", "--jq", "[inputs] | length"], env);
    expect(counted.stdout).toBe("0\n0\n0\n");
  });

  it("prints texts as they are, all else as JSON on a line, and every result on its own", async () => {
    const args = ["profile", "show", "books", "--jq", ".current, {url}, [.ledger], .name, empty"];
    const { stdout } = await runHere(args, env);
    expect(stdout).toBe('true\n{"url":"http://127.0.0.1:9/books"}\n[null]\nbooks\n');
    expect(await printed('"", " x \\n", ""', "1")).toBe("\n x \n\n\n");
  });

  it.each([
    [".foo[", /^--jq: syntax error, unexpected end of file at <top-level>, line 1, column 5:\n/],
    ["nosuch(1)", /^--jq: nosuch\/1 is not defined/],
    ["--version", /^--jq: version\/0 is not defined/],
    ['import "a" as a; .', /^--jq: module not found: a/],
    ["a\0b", /^--jq must have no NUL/],
  ])("%j ends the command with 2 before it does anything", async (expression, says) => {
    const args = ["config", "set", "url", "http://127.0.0.1:1", "--jq", expression];
    const { code, stdout, stderr } = await runHere(args, env);
    expect([code, stdout]).toEqual([2, ""]);
    const { error } = JSON.parse(stderr) as { error: { message: string } };
    expect(error.message).toMatch(says);
    const { stdout: url } = await runHere(["profile", "show", "books", "--jq", ".url"], env);
    expect(url).toBe("http://127.0.0.1:9/books\n");
  });

  it("that fails on a document ends the command with 1 and jq's message", async () => {
    const { code, stderr } = await runHere(["profile", "list", "--jq", ".name.first"], env);
    expect(code).toBe(1);
    const { error } = JSON.parse(stderr) as { error: { message: string } };
    expect(error.message).toBe('--jq: Cannot index string with string ("first")');
  });

  it("is refused where stdout has a file", async () => {
    const args = ["export", "--format", "csv", "--jq", "."];
    expect(await runHere(args, env)).toMatchObject({ code: 2, stdout: "" });
  });

  it("lets no text command the terminal", async () => {
    const { isTTY } = process.stdout;
    process.stdout.isTTY = true;
    const text = await printed(".", JSON.stringify("a\u001b[2Jb")).finally(() => {
      process.stdout.isTTY = isTTY;
    });
    expect(text).toBe("a\\u001b[2Jb\n");
    expect(await printed(".", JSON.stringify("a\u001b[2Jb"))).toBe("a\u001b[2Jb\n");
  });

  it("prints long lists in order, however they are put together", async () => {
    const documents = Array.from({ length: 20_000 }, (_, n) =>
      JSON.stringify({ n, x: "y".repeat(50) }),
    );
    const text = await printed(".n", ...documents);
    expect(text).toBe(documents.map((_, n) => `${n}\n`).join(""));
  });
});

describe("numbers past 2^53", () => {
  const document = '{"balance":-9007199254740993,"entryCount":3,"text":"99999999999999999999"}';

  it.each([
    [".", `${document}\n`],
    [".balance", "-9007199254740993\n"],
    ['"\\(.text)"', null],
    ["[.balance, -9007199254740992] | sort | .[0]", "-9007199254740993\n"],
    ["select(.balance < -9007199254740992) | .text", "99999999999999999999\n"],
    ["select(.balance == -9007199254740992)", ""],
    ["{a: .balance} | to_entries[] | .value | tostring", "-9007199254740993\n"],
    ["[.balance, .entryCount] | @csv", "-9007199254740993,3\n"],
    ["if .entryCount == 3 then .balance else empty end", "-9007199254740993\n"],
    [".balance + 1", null],
    [".balance | -.", null],
    [".balance - 1", null],
    [".entryCount -1", null],
    [".balance | floor", null],
    ["[.[] | numbers] | add", null],
    ["def f: . * 2; .balance | f", null],
    [".balance |= . / 2", null],
  ])("are never rounded by %j", async (expression, expected) => {
    if (expected === null) {
      const says = /^--jq: jq would round the number -9007199254740993/;
      await expect(printed(expression, document)).rejects.toThrow(says);
    } else expect(await printed(expression, document)).toBe(expected);
  });

  it("are told from digits in texts, and from numbers that jq holds exactly", async () => {
    const other =
      '{"n":9007199254740991,"r":0.30000000000000004,"t":"9007199254740993 \\" 9007199254740993"}';
    expect(await printed(".n + 0", other)).toBe("9007199254740991\n");
  });

  it("keep all digits through whatever is said to keep them", async () => {
    const step = fc.constantFrom(
      ...[".balance", "{a: .}", "[., .]", ".[]?", "..", "tojson", "tostring", "values", "map(.)?"],
      ...["to_entries?", "sort?", "unique?", "first?", "if . then . else . end", "select(. != 1)"],
      ...[". as $x | $x", "min?", "max?", "@text", "[paths]", "try error catch ."],
    );
    const expressions = fc.array(step, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(expressions, fc.bigInt({ min: 2n ** 53n + 1n }), async (steps, number) => {
        const expression = steps.join(" | ");
        expect(keepsNumbers(expression)).toBe(true);
        const text = await printed(`try (${expression}) catch empty`, `{"balance":${number}}`);
        const digits = text.match(/[0-9]{10,}/g) ?? [];
        for (const found of digits) expect(found).toBe(String(number));
      }),
      { numRuns: 60 },
    );
  });
});

const hasJq = spawnSync("jq", ["--version"]).status === 0;

describe.skipIf(!hasJq)("beside the jq of this machine", () => {
  const documents = [
    '{"a":[1,2,{"b":"x\\ty"}],"c":null}',
    '{"a":[],"c":"ü"}',
    '{"a":[true],"c":1.5}',
  ];

  it.each([
    ".a",
    ".a[]",
    'keys | join("/")',
    "[.a[]?] | length",
    '.c // "none"',
    "@json",
    "to_entries[] | .key",
  ])("%j prints the same", async (expression) => {
    const { stdout } = spawnSync("jq", ["-cr", expression], { input: documents.join("\n") });
    expect(await printed(expression, ...documents)).toBe(stdout.toString());
  });
});

it("takes the filter that flags carry", () => {
  const written: string[] = [];
  const filter = { write: (text: string) => void written.push(text), end: () => undefined };
  const output = new Output({ json: true, filter }, true);
  output.result({ a: 1 }, () => "");
  output.list([{ b: 2 }], []);
  expect(written).toEqual(['{"a":1}', '{"b":2}']);
});
