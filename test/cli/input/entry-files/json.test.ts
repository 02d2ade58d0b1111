// Entries in JSON and NDJSON, broken ones among them, and how a file's format is found.
import { describe, expect, it } from "vitest";
import { entry, entryFolder, ndjson } from "./entry-file.ts";

const { read } = entryFolder();

describe("NDJSON", () => {
  it("reads an entry a line, and passes blank lines, CRLF and a byte order mark over", async () => {
    const text = `\ufeff${JSON.stringify(entry(1, { externalId: "a" }))}\r\n\r\n \t\n${JSON.stringify(entry(2, { externalId: "ü" }))}`;
    const { bodies, found, isSingle } = await read("a.ndjson", text);
    expect(bodies).toEqual([entry(1, { externalId: "a" }), entry(2, { externalId: "ü" })]);
    expect(found.map(({ line }) => line)).toEqual([1, 4]);
    expect(isSingle).toBe(false);
  });

  it("names line, column and member of broken JSON, and goes on with the next line", async () => {
    const broken = '{"lines":[{"functionalAmount":"1"},{"functionalAmount":1,}]}';
    const { bodies, faults } = await read(
      "broken.ndjson",
      `${ndjson(entry(1))}${broken}\n{"lines":\n5\n"text"\n${ndjson(entry(2))}`,
    );
    expect(faults).toEqual([
      'line 2, column 58 (lines[1].functionalAmount): expected name, found "}"',
      "line 3, column 10 (lines): the text ends too early",
      "line 4: an entry must be a JSON object",
      "line 5: an entry must be a JSON object",
    ]);
    expect(bodies).toHaveLength(2);
  });

  it("refuses a number that a double would change, naming line and member", async () => {
    const { bodies, faults } = await read(
      "numbers.ndjson",
      '{"metadata":{"a":[1,12345678901234567890]},"lines":[]}\n{"metadata":{"b":1e400},"lines":[]}\n{"metadata":{"c":0.1},"lines":[]}\n',
    );
    expect(faults).toEqual([
      "line 1: metadata.a[1]: 12345678901234567890 can't be held exactly; write it as a string",
      "line 2: metadata.b: 1e400 can't be held exactly; write it as a string",
    ]);
    expect(bodies).toHaveLength(1);
  });

  it("names the line of invalid UTF-8, and of a raw NUL", async () => {
    const { faults, bodies } = await read(
      "bytes.ndjson",
      Buffer.concat([
        Buffer.from(ndjson(entry(1))),
        Buffer.from([0x22, 0xff, 0x22, 0x0a]),
        Buffer.from('{"description":"a\0b","lines":[]}\n'),
        Buffer.from(ndjson(entry(2))),
      ]),
    );
    expect(faults).toEqual([
      "line 2: not valid UTF-8",
      "line 3, column 18 (description): a text holds the control character U+0000 unescaped",
    ]);
    expect(bodies).toHaveLength(2);
  });

  it("leaves escaped NULs and lone surrogates for the service to refuse, as they are", async () => {
    const line = '{"description":"a\\u0000","metadata":{"s":"\\ud800"},"lines":[]}';
    const { bodies } = await read("escapes.ndjson", `${line}\n`);
    expect(JSON.stringify({ ...bodies[0], externalId: undefined })).toBe(line);
  });

  it("refuses what is nested too deep for anyone to post", async () => {
    const deep = `{"metadata":${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}}`;
    const { faults } = await read("deep.ndjson", `${deep}\n`);
    expect(faults).toEqual(["line 1: nested more than 128 deep"]);
  });

  it("passes a line over that is longer than any entry, and goes on", async () => {
    const long = JSON.stringify(entry(1, { description: "x".repeat(5 * 1024 * 1024) }));
    const { faults, bodies } = await read("long.ndjson", `${long}\n${ndjson(entry(2))}`);
    expect(faults).toEqual(["line 1: the entry is longer than 4 MiB"]);
    expect(bodies).toHaveLength(1);
  });
});

describe("a JSON array", () => {
  it("reads elements however they are laid out, with the line of each", async () => {
    const text = `\n[\n${JSON.stringify(entry(1), null, 2)}\n,${JSON.stringify(entry(2))} , ${JSON.stringify(entry(3, { description: '"]},[{\\' }))}\n]\n`;
    const { bodies, found } = await read("array.json", text);
    expect(bodies.map(({ lines }) => (lines as unknown[]).length)).toEqual([2, 2, 2]);
    expect(found.map(({ line }) => line)).toEqual([3, 15, 15]);
  });

  it("reads the same at every split into chunks", async () => {
    const { readJsonArray } = await import("../../../../src/cli/input/entry-files/json-array.ts");
    const bytes = Buffer.from(
      JSON.stringify([entry(1, { description: '\\"ü😀]' }), entry(2), {}], null, 1),
    );
    async function* split(size: number) {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    for (let size = 1; size < 40; size += 1) {
      const bodies = [];
      for await (const { body } of readJsonArray(split(size))) bodies.push(body);
      expect(bodies).toEqual([entry(1, { description: '\\"ü😀]' }), entry(2), {}]);
    }
  });

  it("reads an empty array as no entries", async () => {
    expect((await read("empty.json", " [ ] ")).found).toEqual([]);
  });

  it("goes on behind an element that is no entry", async () => {
    const text = `[1, "a,]", [2], ${JSON.stringify(entry(1))}, null]`;
    const { bodies, faults } = await read("mixed.json", text);
    expect(bodies).toHaveLength(1);
    expect(faults).toEqual(Array(4).fill("line 1: an entry must be a JSON object"));
  });

  it.each([
    ["[{}\n{}]", 'line 2, column 1: expected a comma or ], found "{"; nothing behind it was read'],
    ["[{},\n]", 'line 2, column 1: expected an entry, found "]"'],
    ["[,{}]", 'line 1, column 2: expected an entry or ], found ","'],
    ['[{},\n {"a":[1}, {}]', "line 2, column 9 (a[0]): expected a comma or the end, found"],
    ['[{},\n{"a":x},{}]', 'line 2, column 6 (a): expected value, found "x"'],
    ["[{}", "line 1: the file ends before the array is closed"],
    ['[{},\n{"a":[', "line 2: the file ends inside of the entry that begins here"],
    ["[{}] {}", 'line 1, column 6: expected nothing more, found "{"'],
  ])("stops at a broken array: %j", async (text, message) => {
    const { bodies, faults } = await read("stop.json", text);
    expect(bodies).toHaveLength(1 - (text.startsWith("[,") ? 1 : 0));
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(message);
  });
});

describe("how a file's format is found", () => {
  const two = ndjson(entry(1), entry(2));
  const csv = "glAccountCode,functionalAmount\n1000,1\n4000,-1\n";

  it.each([
    ["one.json", JSON.stringify(entry(1)), true, 1],
    ["pretty.json", JSON.stringify(entry(1), null, 2), true, 1],
    ["one", `\ufeff  ${JSON.stringify(entry(1))}\n\n`, true, 1],
    ["array", JSON.stringify([entry(1)]), false, 1],
    ["two", two, false, 2],
    ["two.json", two, false, 2],
    ["one.ndjson", ndjson(entry(1)), false, 1],
    ["one.jsonl", ndjson(entry(1)), false, 1],
    ["rows", csv, false, 1],
    ["rows.csv", csv, false, 1],
    ["ROWS.CSV", csv, false, 1],
    ["none.ndjson", "", false, 0],
  ])("%s", async (name, content, isSingle, entries) => {
    const file = await read(name, content);
    expect(file.faults).toEqual([]);
    expect([file.isSingle, file.bodies.length]).toEqual([isSingle, entries]);
  });

  it("is what --format says", async () => {
    expect((await read("x.csv", ndjson(entry(1)), "ndjson")).isSingle).toBe(false);
    expect((await read("x.ndjson", ndjson(entry(1)), "json")).isSingle).toBe(true);
    expect((await read("x.json", csv, "csv")).bodies).toHaveLength(1);
  });

  it("refuses a file that is empty, missing or a folder", async () => {
    const { openEntries } = await import("../../../../src/cli/input/entry-files/open-entries.ts");
    const open = (file: string) => openEntries(file, null, () => undefined);
    await expect(read("empty", " \n")).rejects.toThrow(/is empty: there is no entry to post/);
    await expect(open("/nowhere/x.json")).rejects.toThrow(/can't be read: there is no such file/);
    await expect(open("/")).rejects.toThrow(/is a folder/);
  });
});
