// Bodies of `request` and `sign` from flags, answers as a terminal shows them, and changes of the configuration file.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { readBody } from "../../src/cli/input/request-arguments.ts";
import { indentedJson } from "../../src/cli/terminal/indented-json.ts";
import { findNamedLedger } from "../../src/cli/connection/named-ledger.ts";
import type { LedgerClient } from "../../src/client/ledger-client.ts";
import { runHere } from "../support/program.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-request-"));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const bodyOf = async (...data: readonly string[]) => (await readBody({ data })).toString();

describe("--data", () => {
  it.each([
    [["amount=500", "assetCode=USD"], '{"amount":"500","assetCode":"USD"}'],
    [["a:=9007199254740993", "b:=[1, 2]", "c:=null"], '{"a":9007199254740993,"b":[1, 2],"c":null}'],
    [["m.a.b=1", "m.c=x=y:z", "m.a.d=é\n"], '{"m":{"a":{"b":"1","d":"é\\n"},"c":"x=y:z"}}'],
    [["__proto__=x", "empty="], '{"__proto__":"x","empty":""}'],
  ])("%j is an object", async (data, json) => {
    expect(await bodyOf(...data)).toBe(json);
  });

  it.each([
    [["a"], /--data must be KEY=TEXT or KEY:=JSON, not a/],
    [["=x"], /must be KEY=TEXT/],
    [["a..b=x"], /must be KEY=TEXT/],
    [["a=1", "a=2"], /--data names a twice/],
    [["a=1", "a.b=2"], /--data a\.b: a is no object/],
    [["a.b=1", "a=2"], /--data names a twice/],
    [["a:={"], /--data a is no JSON: the text ends too early/],
  ])("%j is refused", async (data, says) => {
    await expect(bodyOf(...data)).rejects.toThrow(says);
  });

  it("does not go with --body", async () => {
    await expect(readBody({ data: ["a=1"], body: "{}" })).rejects.toThrow(/exclude each other/);
  });
});

describe("--body", () => {
  it("is JSON itself where it begins like an object or an array, byte for byte", async () => {
    for (const body of ['{ "a" : 1.0 }', "[1,2]"]) {
      expect((await readBody({ body })).toString()).toBe(body);
    }
    await expect(readBody({ body: '{"lines":[1,}' })).rejects.toThrow(
      /^--body is no JSON: lines\[1\]: expected value, found "}"/,
    );
    const file = join(folder, "body.json");
    writeFileSync(file, "not json");
    expect((await readBody({ body: file })).toString()).toBe("not json");
  });
});

describe("an answer on a terminal", () => {
  it("has one member a line", () => {
    expect(indentedJson('{"a":[1,{"b":{}}],"c":[], "d":"x, {y}: \\"z\\""}')).toBe(
      '{\n  "a": [\n    1,\n    {\n      "b": {}\n    }\n  ],\n  "c": [],\n  "d": "x, {y}: \\"z\\""\n}',
    );
  });

  it("is the same JSON, number for number, as JSON.stringify would have it", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: unknown = JSON.parse(text);
        const expected = JSON.stringify(value, null, 2);
        if (/^\s*[{[]/.test(text)) expect(indentedJson(JSON.stringify(value))).toBe(expected);
      }),
    );
    expect(indentedJson('{"a":9007199254740993,"b":1.10}')).toContain("9007199254740993");
  });

  it("stays as it is where it is no JSON", () => {
    for (const text of ["# HELP x", "{broken", "", '"text"']) expect(indentedJson(text)).toBe(text);
  });
});

describe("a ledger's name", () => {
  const id = (end: number) => `0190b6a0-0000-7000-8000-00000000000${end}`;
  const ledgers = [
    { id: id(1), name: "Main" },
    { id: id(2), name: "Trial" },
    { id: id(3), name: "Trial" },
  ];
  const client = { listLedgers: () => Promise.resolve(ledgers) } as unknown as LedgerClient;

  it("stands for the one ledger that has it", async () => {
    expect((await findNamedLedger(client, "Main"))()).toBe(id(1));
    expect((await findNamedLedger(client, id(9)))()).toBe(id(9));
  });

  it("is refused where none or several have it, and only when the ledger is needed", async () => {
    const [none, several, missing] = await Promise.all([
      findNamedLedger(client, "Mian"),
      findNamedLedger(client, "Trial"),
      findNamedLedger(client, null),
    ]);
    expect(none).toThrow(/there is no ledger "Mian" that the key can see\n {2}Did you mean Main\?/);
    expect(several).toThrow(`is the name of several ledgers: ${id(2)}, ${id(3)}`);
    expect(missing).toThrow(/name the ledger with --ledger/);
  });
});

describe("the configuration file", () => {
  const file = join(folder, "config.json");
  const env = { LEDGERCTL_CONFIG: file };
  const two = { url: "http://127.0.0.1:2", ledger: "x" };
  const read = () => JSON.parse(readFileSync(file, "utf8")) as unknown;

  beforeEach(() => {
    writeFileSync(file, JSON.stringify({ currentProfile: "one", profiles: { one: {}, two } }), {
      mode: 0o600,
    });
  });

  it("loses a profile that is removed, and says when it was in use", async () => {
    const other = await runHere(["profile", "remove", "two"], env);
    expect(other).toMatchObject({ code: 0, stderr: "" });
    expect(read()).toEqual({ currentProfile: "one", profiles: { one: {} } });
    const current = await runHere(["profile", "remove", "one", "--json"], env);
    expect(JSON.parse(current.stdout)).toMatchObject({ name: "one" });
    expect(current.stderr).toContain("no profile is in use now");
    expect(read()).toEqual({ profiles: {} });
    const none = await runHere(["profile", "remove", "one"], env);
    expect([none.code, none.stdout]).toEqual([5, ""]);
  });

  it("loses a setting that is unset, and no other", async () => {
    const { code, stdout } = await runHere(["config", "unset", "ledger", "--profile", "two"], env);
    expect([code, stdout]).toEqual([0, "ledger of profile two is not set any more\n"]);
    expect(read()).toEqual({ currentProfile: "one", profiles: { one: {}, two: { url: two.url } } });
    expect((await runHere(["config", "unset", "url"], env)).stdout).toBe(
      "url of profile one was not set\n",
    );
    expect((await runHere(["config", "unset", "ulr"], env)).stderr).toContain("Did you mean url?");
    expect((await runHere(["config", "unset", "url", "--profile", "three"], env)).code).toBe(5);
  });
});
