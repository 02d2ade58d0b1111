// Metadata of entries: what it may hold, how deep and how much.
import { describe, expect, test } from "vitest";
import {
  entriesPath,
  entry,
  pointers,
  postAndRead,
  postEntry,
  problem,
  readEntry,
  written,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const path = () => entriesPath(service.books.ledgerId);

/** An entry with metadata written as JSON text, so that the text can be anything. */
function withMetadata(json: string): string {
  return JSON.stringify(entry(1n, { metadata: 0 })).replace('"metadata":0', `"metadata":${json}`);
}

async function kept(json: string): Promise<Record<string, unknown>> {
  const { journalId } = written(await service.post(path(), withMetadata(json)));
  return (await readEntry(service, journalId)).metadata;
}

function nested(depth: number): unknown {
  return depth === 1 ? {} : { a: nested(depth - 1) };
}

describe("metadata", () => {
  test("comes back as it was sent, key order aside", async () => {
    const metadata = {
      z: null,
      a: [1, "2", { b: true, "": [] }, []],
      ü: { "😀": "x\u0001", "a/b~c": {} },
      number: -1.5,
    };
    expect((await postAndRead(service, entry(1n, { metadata }))).metadata).toEqual(metadata);
  });

  test("is empty where none was sent", async () => {
    for (const more of [{}, { metadata: null }, { metadata: {} }]) {
      expect((await postAndRead(service, entry(1n, more))).metadata).toEqual({});
    }
  });

  test.each(['"x"', "1", "true", "[]", '[{"a":1}]'])("is an object and not %s", async (json) => {
    expect(pointers(await service.post(path(), withMetadata(json)))).toEqual(["#/metadata"]);
  });

  test("keeps a member called __proto__, and pollutes nothing", async () => {
    const read = await kept('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}');
    expect(Object.keys(read)).toEqual(["__proto__", "constructor"]);
    expect(JSON.stringify(read)).toBe('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("takes the last of duplicate keys", async () => {
    expect(await kept('{"a":1,"b":{"c":1},"a":2,"b":{"d":3}}')).toEqual({ a: 2, b: { d: 3 } });
  });

  test("is not held to a number that a later key replaced", async () => {
    expect(await kept('{"a":1e400,"a":1}')).toEqual({ a: 1 });
  });
});

describe("text in metadata", () => {
  test.each(["\\u0000", "a\\u0000b", "\\ud800", "\\udc00", "\\ude00\\ud83d"])(
    "has no NUL and no lone surrogate, in values and in keys: %s",
    async (text) => {
      const value = await service.post(path(), withMetadata(`{"a":["x",{"b":"${text}"}]}`));
      expect(pointers(value)).toEqual(["#/metadata/a/1/b"]);
      const key = await service.post(path(), withMetadata(`{"a":{"${text}":1}}`));
      expect(pointers(key)).toHaveLength(1);
      expect(pointers(key)[0]).toMatch(/^#\/metadata\/a\//);
    },
  );

  test("may be escaped in any way", async () => {
    expect(await kept('{"\\u0061\\/":"\\ud83d\\ude00\\n"}')).toEqual({ "a/": "😀\n" });
  });
});

describe("numbers in metadata", () => {
  test.each([
    ["1e21", 1e21],
    ["1.50", 1.5],
    ["9007199254740992", 2 ** 53],
    ["-9007199254740992", -(2 ** 53)],
    ["0.1", 0.1],
    ["1e23", 1e23],
    ["100000000000000000000000", 1e23],
    ["5e-324", 5e-324],
    ["1.7976931348623157e308", Number.MAX_VALUE],
    ["0.000", 0],
    ["1E2", 100],
  ])("that a double holds are kept: %s", async (text, value) => {
    expect(await kept(`{"n":[${text}]}`)).toEqual({ n: [value] });
  });

  test.each([
    "1e400",
    "-1e400",
    "0.1234567890123456789",
    "9007199254740993",
    "-9007199254740993",
    "1e-400",
    "123456789012345678901234567890",
  ])("that a double can't hold are refused: %s", async (text) => {
    const reply = await service.post(path(), withMetadata(`{"a":1,"n":[0,${text}]}`));
    expect(problem(reply).errors).toEqual([
      {
        detail: `${text} can't be held exactly; send it as a string`,
        pointer: "#/metadata/n/1",
      },
    ]);
    expect(await kept(`{"n":["${text}"]}`)).toEqual({ n: [text] });
  });
});

describe("the size of metadata", () => {
  test("is at most 64 KiB of UTF-8", async () => {
    const frame = '{"a":""}'.length;
    for (const letter of ["x", "é", "😀"]) {
      const width = Buffer.byteLength(letter);
      const count = Math.floor((64 * 1024 - frame) / width);
      const filler = "x".repeat((64 * 1024 - frame) % width);
      const a = letter.repeat(count) + filler;
      expect((await postAndRead(service, entry(1n, { metadata: { a } }))).metadata).toEqual({ a });
      const larger = await service.post(path(), entry(1n, { metadata: { a: `${a}x` } }));
      expect(pointers(larger)).toEqual(["#/metadata"]);
    }
  });

  test("is at most 64 levels, objects and arrays together", async () => {
    const metadata = nested(64);
    expect((await postAndRead(service, entry(1n, { metadata }))).metadata).toEqual(metadata);
    expect(pointers(await service.post(path(), entry(1n, { metadata: nested(65) })))).toEqual([
      `#/metadata${"/a".repeat(64)}`,
    ]);
    expect(await kept(`{"a":${"[".repeat(63)}${"]".repeat(63)}}`)).toBeDefined();
    const arrays = withMetadata(`{"a":${"[".repeat(64)}${"]".repeat(64)}}`);
    expect(pointers(await service.post(path(), arrays))).toHaveLength(1);
  });

  test("may be tried with nesting as deep as a body is long", async () => {
    const deep = withMetadata(`{"a":${"[".repeat(400_000)}${"]".repeat(400_000)}}`);
    expect(pointers(await service.post(path(), deep))).toHaveLength(1);
    expect((await service.get("/healthz")).status).toBe(200);
  });
});

describe("metadata of a reversal", () => {
  test("is its own and empty by default", async () => {
    const { journalId } = await postEntry(service, entry(1n, { metadata: { of: "original" } }));
    const plain = written(await service.post(`${path()}/${journalId}/reversal`));
    expect((await readEntry(service, plain.journalId)).metadata).toEqual({});
    const second = await postEntry(service, entry());
    const metadata = { why: ["x"], n: 1.5 };
    const told = written(
      await service.post(`${path()}/${second.journalId}/reversal`, { metadata }),
    );
    expect((await readEntry(service, told.journalId)).metadata).toEqual(metadata);
  });

  test("is held to the same rules", async () => {
    const { journalId } = await postEntry(service, entry());
    const target = `${path()}/${journalId}/reversal`;
    for (const json of ["[]", '{"a":1e400}', '{"a":"\\u0000"}', JSON.stringify(nested(65))]) {
      expect(pointers(await service.post(target, `{"metadata":${json}}`))).toHaveLength(1);
    }
  });
});
