// Checking bundles: true ones are found true, and nothing can be changed without being found.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CloseRecord } from "../../src/core/close.ts";
import { closeHashOf } from "../../src/core/close.ts";
import type { JsonObject, JsonValue } from "../../src/core/journal.ts";
import { checkBundle, type BundleLine } from "../../src/verify/bundle.ts";
import type { CloseVerdict } from "../../src/verify/verdict.ts";
import { MalformedFile } from "../../src/verify/documents.ts";
import { bundleOf, bundleText, closeVectors } from "../support/close-vectors.ts";

async function* linesOf(text: string): AsyncGenerator<BundleLine[]> {
  const lines = text.split("\n");
  const unended = lines.pop() ?? "";
  yield lines.map((line) => ({ text: line, isEnded: true }));
  if (unended !== "") yield [{ text: unended, isEnded: false }];
}

const check = (text: string, expected: string | null = null): Promise<CloseVerdict> =>
  checkBundle(linesOf(text), expected);

const hashOf = (index: number) => closeVectors.closes[index]?.record.closeHash ?? "";
const rootOf = (index: number) => closeVectors.closes[index]?.record.merkleRoot ?? "";

describe.each([0, 1, 2])("the bundle of close %d", (index) => {
  const text = bundleText(bundleOf(index));

  test("is consistent, and anchored by its closeHash or its merkleRoot", async () => {
    expect(await check(text)).toMatchObject({ ok: true, anchored: false, findings: [] });
    const byHash = await check(text, hashOf(index));
    expect(byHash).toMatchObject({ ok: true, anchored: true });
    expect(byHash.notChecked.join()).not.toContain("bounds");
    const byRoot = await check(text, rootOf(index));
    expect(byRoot).toMatchObject({ ok: true, anchored: true });
    expect(byRoot.notChecked.join()).toContain("periodId, number, closedAt, bounds, balances");
  });

  test("is refused where another figure was expected", async () => {
    const verdict = await check(text, "00".repeat(32));
    expect(verdict).toMatchObject({ ok: false, anchored: false });
  });

  test("is found cut off at every line", async () => {
    const lines = text.trimEnd().split("\n");
    for (let count = 1; count < lines.length; count += 1) {
      const verdict = await check(`${lines.slice(0, count).join("\n")}\n`);
      expect(verdict.ok).toBe(false);
      expect(verdict.findings.map(({ what }) => what).join()).toContain("no trailer");
    }
  });

  test("is found without its last line feed, and otherwise read", async () => {
    const verdict = await check(text.slice(0, -1));
    const where = `line ${text.trimEnd().split("\n").length}`;
    const what = "has no line feed at its end: the file may have been cut off";
    expect(verdict.findings).toEqual([{ where, what }]);
  });

  test("says what it is of", async () => {
    const { record } = closeVectors.closes[index] ?? {};
    const { ledgerId, periodId, number, startsAt, endsAt, closedAt, entryCount } = record ?? {};
    const subject = { ledgerId, periodId, number, startsAt, endsAt, closedAt };
    expect(await check(text)).toMatchObject({ ...subject, entries: entryCount, findingCount: 0 });
  });

  test("is found longer than its trailer", async () => {
    const verdict = await check(`${text}{"kind":"entry"}\n`);
    expect(verdict.findings.map(({ what }) => what)).toContain("stands behind the trailer");
  });
});

/** Every place in a document that holds a value, as a path. */
function placesOf(
  value: JsonValue,
  path: readonly (string | number)[] = [],
): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [[...path]];
  const members = Object.entries<JsonValue>(value as JsonObject);
  if (members.length === 0) return [[...path]];
  return members.flatMap(([name, member]) =>
    placesOf(member, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

/** Other values in place of one: each has to be found. */
function othersOf(value: JsonValue): JsonValue[] {
  if (value === null) return ["x"];
  if (typeof value === "number") return [value * 2 + 1, String(value)];
  if (typeof value === "object") return [{ x: 1 }];
  if (typeof value === "boolean") return [!value];
  if (value === "0") return ["-0", "00"];
  return [`${value}1`, null, ...(value.startsWith("-") ? [value.slice(1)] : [])];
}

function withValue(
  lines: readonly JsonObject[],
  path: readonly (string | number)[],
  value: JsonValue,
) {
  const changed = structuredClone(lines) as unknown as Record<string | number, unknown>;
  let at = changed;
  for (const part of path.slice(0, -1)) at = at[part] as Record<string | number, unknown>;
  at[path.at(-1) ?? ""] = value;
  return changed as unknown as JsonObject[];
}

test("no value of a bundle can be another one", async () => {
  for (const index of [0, 1]) {
    const lines = bundleOf(index);
    for (const path of placesOf(lines)) {
      const value = path.reduce<unknown>(
        (at, part) => (at as Record<string | number, unknown>)[part],
        lines,
      ) as JsonValue;
      for (const other of othersOf(value)) {
        const text = bundleText(withValue(lines, path, other));
        const isFound = await check(text, hashOf(index)).then(
          ({ ok }) => !ok,
          (error: unknown) => error instanceof MalformedFile,
        );
        expect(isFound, `${path.join("/")}: ${JSON.stringify(other)}`).toBe(true);
      }
    }
  }
});

test("no line can be left out, doubled or moved", async () => {
  const lines = bundleOf(0);
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined) throw new Error("there is a line");
    const without = lines.filter((_, at) => at !== index);
    const forged = [
      without,
      [...lines.slice(0, index), line, ...lines.slice(index)],
      [...without.slice(0, index - 1 || 1), line, ...without.slice(index - 1 || 1)],
    ];
    for (const bundle of forged) {
      if (JSON.stringify(bundle) === JSON.stringify(lines)) continue;
      expect((await check(bundleText(bundle), hashOf(0))).ok).toBe(false);
    }
  }
});

test("no byte of a bundle can be another one", async () => {
  const bytes = Buffer.from(bundleText(bundleOf(0)));
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bytes.length - 2),
      fc.integer({ min: 1, max: 255 }),
      async (at, change) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ change;
        const isFound = await check(changed.toString("utf8"), hashOf(0)).then(
          ({ ok }) => !ok,
          (error: unknown) => error instanceof MalformedFile,
        );
        // White space between tokens means nothing; there is none to change in canonical form.
        expect(isFound, changed.toString("utf8", Math.max(0, at - 20), at + 20)).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

test("a bundle that was written anew to agree with itself is not anchored, and found by what is expected", async () => {
  const lines = bundleOf(2);
  const { closeHash, ...record } = (lines[0] as unknown as { close: CloseRecord }).close;
  const forged = { ...record, reason: "another" };
  const rewritten = { ...forged, closeHash: closeHashOf(forged).toString("hex") };
  const text = bundleText([{ ...lines[0], close: rewritten }, ...lines.slice(1)]);
  expect(await check(text)).toMatchObject({ ok: true, anchored: false });
  expect(await check(text, closeHash)).toMatchObject({ ok: false, anchored: false });
});

test("what is ambiguous is no bundle: names that repeat, numbers that no double is, lone surrogates", async () => {
  const text = bundleText(bundleOf(0));
  for (const [from, to] of [
    ['"description":null', '"description":"x","description":null'],
    ['"spotRate":1.0845', '"spotRate":1e999'],
    ['"spotRate":1.0845', '"spotRate":1.08450000000000000001'],
    ['"description":null', '"description":"\\ud800"'],
    ['"description":null', `"description":${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ] as const) {
    expect(text).toContain(from);
    expect((await check(text.replace(from, to), hashOf(0))).ok).toBe(false);
  }
});

test.each([
  "",
  "x",
  "{}",
  "[]",
  '{"kind":"close"}',
  '{"kind":"close","format":"ledgerctl-bundle-v2"}',
])("%j is no bundle", async (text) => {
  await expect(check(text)).rejects.toThrow(MalformedFile);
});

describe("a fault of one line is one finding", () => {
  const lines = bundleOf(0);
  const indexOf = (kind: string) => lines.findIndex((line) => line["kind"] === kind);
  const findingsOf = async (index: number, change: JsonObject) => {
    const changed = lines.map((line, at) => (at === index ? { ...line, ...change } : line));
    const { ok, findings } = await check(bundleText(changed), hashOf(0));
    expect(ok).toBe(false);
    return findings.map(({ where, what }) => `${where} ${what}`);
  };

  test.each(["close", "account", "entry", "trailer"])("in a %s, another member", async (kind) => {
    const index = indexOf(kind);
    expect(await findingsOf(index, { extra: 1 })).toEqual([
      `line ${index + 1} has a member "extra"`,
    ]);
  });

  test.each([
    ["7", '"7"'],
    [null, "null"],
  ])("in a trailer, the count %j", async (accounts, shown) => {
    const index = indexOf("trailer");
    const rows = lines.filter(({ kind }) => kind === "account").length;
    expect(await findingsOf(index, { accounts })).toEqual([
      `line ${index + 1} counts ${shown} accounts; there are ${rows}`,
    ]);
  });

  test("a kind that no line has is named", async () => {
    const changed = [...lines.slice(0, 1), { kind: "chapter" }, ...lines.slice(1)];
    const { findings } = await check(bundleText(changed), hashOf(0));
    expect(findings).toEqual([
      { where: "line 2", what: 'is of no kind that a bundle has: "chapter"' },
    ]);
  });

  test("a row and an entry that can't be read are counted", async () => {
    for (const kind of ["account", "entry"]) {
      const found = await findingsOf(indexOf(kind), { [kind]: { x: 1 } });
      expect(found[0]).toContain(`line ${indexOf(kind) + 1} is no `);
      expect(found.join()).not.toContain("counts");
    }
  });
});

test("of many findings the first 20 are told, and all are counted", async () => {
  const [close = "", ...rest] = bundleText(bundleOf(0)).trimEnd().split("\n");
  const junk = Array.from({ length: 30 }, () => "junk");
  const verdict = await check(`${[close, ...junk, ...rest].join("\n")}\n`, "00".repeat(32));
  expect(verdict.findings).toHaveLength(20);
  expect(verdict.findingCount).toBe(31);
});
