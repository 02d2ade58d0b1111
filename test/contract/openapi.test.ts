// The OpenAPI document says of each route what it does, shows a request and its reply that are none of a stranger's, and
// names what it refuses; all of it is held against the schemas that the server itself reads with.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { openApiDocument } from "../../src/contract/openapi/document.ts";
import { errorsOf } from "../../src/contract/openapi/route-errors.ts";
import { parseQuery } from "../../src/contract/query-schemas.ts";
import { routeList } from "../../src/contract/routes.ts";
import { problemKinds } from "../../src/core/errors.ts";

type Json = Record<string, unknown>;
interface Operation {
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { name: string; in: string; schema: Json; example?: unknown }[];
  readonly requestBody?: { readonly content: Record<string, { schema: Json; example?: unknown }> };
  readonly responses: Record<
    string,
    { description: string; content: Record<string, { schema: Json; example?: unknown }> }
  >;
  readonly "x-codeSamples": readonly { lang: string; source: string }[];
}

const document = openApiDocument({ version: "0.0.0", clockWindowSeconds: 300, limits: ["One."] });
const { schemas } = document["components"] as { schemas: Record<string, Json> };
const all = routeList.map((route) => {
  const item = (document["paths"] as Record<string, Record<string, Operation>>)[route.path];
  const operation = item?.[route.method.toLowerCase()];
  if (operation === undefined) throw new Error(`the document has ${route.name}`);
  return { ...route, operation };
});

describe.each(all)("$name", ({ operation, ...route }) => {
  const [reply] = Object.values(operation.responses[route.status]?.content ?? {});

  test("has a summary and a group", () => {
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/s);
    const groups = (document["tags"] as { name: string }[]).map(({ name }) => name);
    expect(groups).toContain(operation.tags[0]);
  });

  test("has an example of a query and a body that the server reads, and of a reply that it writes", () => {
    const query = operation.parameters
      .filter((parameter) => parameter.in === "query" && parameter.example !== undefined)
      .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`);
    expect(() =>
      parseQuery(route.query, Object.keys(route.query.shape), query.join("&")),
    ).not.toThrow();
    const body = operation.requestBody?.content["application/json"]?.example;
    if (route.body !== null) expect(route.body.schema.safeParse(body).error).toBeUndefined();
    expect(reply?.example).toBeDefined();
    // What is an integer of any size travels as a number.
    const schema = route.hasExactNumbers === true ? z.looseObject({}) : route.reply;
    expect(schema.safeParse(reply?.example).error).toBeUndefined();
    expect(JSON.stringify([body, reply?.example])).not.toMatch(/"text"|undefined/);
  });

  test("names the refusals of each status, with their codes", () => {
    const problems = errorsOf(route);
    expect(problems).toEqual(expect.arrayContaining(["unauthorized", "rateLimited", "internal"]));
    for (const problem of problems) {
      const { status, code, title } = problemKinds[problem];
      expect(operation.responses[status]?.description).toContain(code ?? title);
    }
  });

  test("is shown in a shell and with a method of the client", () => {
    const [shell, program] = operation["x-codeSamples"];
    expect(shell?.source).toMatch(/^ledgerctl sign [A-Z]+ "\/v1\//);
    const [, method = ""] = /client\.(\w+)\(/.exec(program?.source ?? "") ?? [];
    expect(LedgerClient.prototype).toHaveProperty(method);
  });
});

test("schemas with a name have the name of the published type", () => {
  const page = readFileSync(new URL("../../src/contract/types.ts", import.meta.url), "utf8");
  const lines = page.matchAll(
    /^export type (\w+) = (?:Reply|Body)<typeof (?:replies\.)?(\w+)>;$/gm,
  );
  const types = new Map([...lines].map(([, type, schema]) => [type, schema]));
  const used = [...JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)"/g)];
  const names = new Set(used.map(([, name]) => name));
  expect([...names].sort()).toEqual(Object.keys(schemas).sort());
  expect([...names].filter((name) => types.has(name)).length).toBeGreaterThan(30);
});

describe("what JSON Schema can say of a limit, it says", () => {
  const member = (name: string, path: readonly string[]) =>
    path.reduce<Json>((at, part) => at[part] as Json, schemas[name] as Json);
  const read = (schema: Json) =>
    z.fromJSONSchema(
      JSON.parse(
        JSON.stringify({ ...schema, $defs: schemas }).replaceAll("components/schemas", "$defs"),
      ) as Json,
    );

  test("of lists, texts and numbers", () => {
    expect(member("EntryInput", ["properties", "lines"])).toMatchObject({
      minItems: 2,
      maxItems: 1000,
    });
    expect(member("EntryLineInput", ["properties", "glAccountCode"])).toMatchObject({
      minLength: 1,
      maxLength: 256,
    });
    const limit = all
      .find(({ name }) => name === "listEntries")
      ?.operation.parameters.find(({ name }) => name === "limit");
    expect(limit?.schema).toEqual({ type: "integer", minimum: 1 });
  });

  test.each([
    ["2026-02-28T23:59Z", true],
    ["2024-02-29T23:59:59.123456+01:00", true],
    ["2000-02-29t00:00z", true],
    ["2026-02-29T00:00Z", false],
    ["1900-02-29T00:00Z", false],
    ["2026-04-31T00:00Z", false],
    ["2026-01-01T24:00Z", false],
    ["2026-01-01T00:00:60Z", false],
    ["0000-01-01T00:00Z", false],
    ["2026-01-01", false],
    ["2026-01-01T00:00", false],
  ])("of a time such as %s", (text, isTime) => {
    const timestamp = schemas["Timestamp"] as Json;
    expect(read(timestamp).safeParse(text).success).toBe(isTime);
  });
});
