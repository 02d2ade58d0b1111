// What the server says of itself: health, /docs, /openapi.json, and its log.
import { createHash } from "node:crypto";
import { command } from "../../src/store/database/statement.ts";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { routeList, routes } from "../../src/contract/routes.ts";
import { entriesPath, entry, problem } from "../support/entries.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import {
  openStream,
  refusedUpgrade,
  signedHeaders,
  streamTarget,
} from "../support/stream-reader.ts";

let books: TestBooks;
let service: TestService;
const logged: Record<string, unknown>[] = [];

beforeAll(async () => {
  const lines = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged.push(JSON.parse(chunk.toString("utf8")) as Record<string, unknown>);
      done();
    },
  });
  books = await createBooks();
  service = await startService(books, { log: pino({ level: "debug" }, lines) });
});

afterAll(async () => {
  await service.stop();
  await books.drop();
});

describe("outside of /v1, unsigned", () => {
  const get = (target: string) => service.send({ target, credentials: null });

  test("/healthz says that the process is there", async () => {
    const reply = await get("/healthz");
    expect([reply.status, reply.body]).toEqual([200, { status: "ok" }]);
  });

  test("/readyz says that requests can be taken", async () => {
    const reply = await get("/readyz");
    const body = { status: "ready", reason: null, nodesDown: [] };
    expect([reply.status, reply.body]).toEqual([200, body]);
  });

  test("/docs is a page that loads nothing", async () => {
    const reply = await get("/docs");
    expect(reply.status).toBe(200);
    expect(reply.headers["content-type"]).toBe("text/html; charset=utf-8");
    const policy = reply.headers["content-security-policy"];
    expect(policy).toContain("default-src 'none'");
    const [, style = ""] = /<style>(.*)<\/style>/s.exec(reply.text) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    expect(policy).toContain(`style-src 'sha256-${hash}'`);
    expect(reply.text).toMatch(/^<!doctype html>/i);
    expect(reply.text).not.toMatch(/<script|src=|style=|url\(|@import/i);
    for (const { path } of routeList) expect(reply.text).toContain(path);
  });

  test("/docs has a section for each route, and links that lead somewhere on it", async () => {
    const { text } = await get("/docs");
    for (const { name } of routeList) expect(text).toContain(`<article id="${name}">`);
    const targets = [...text.matchAll(/ href="([^"]+)"/g)].map(([, target]) => target);
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => `#${id ?? ""}`);
    expect(new Set(ids).size).toBe(ids.length);
    expect(targets.filter((target) => target !== "/openapi.json").length).toBeGreaterThan(50);
    for (const target of targets) expect(["/openapi.json", ...ids]).toContain(target);
  });
});

describe("/openapi.json", () => {
  type Json = Record<string, unknown>;
  let document: Json;

  beforeAll(async () => {
    const reply = await service.send({ target: "/openapi.json", credentials: null });
    expect(reply.headers["content-type"]).toMatch(/^application\/json/);
    document = reply.body as Json;
  });

  const operations = () =>
    Object.entries(document["paths"] as Record<string, Record<string, Json>>).flatMap(
      ([path, item]) =>
        Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
    );

  test("is OpenAPI 3.1 with the members that it requires", () => {
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\.\d+$/) as string,
      info: { title: "ledgerctl", version: "0.0.0-test" },
    });
    const allowed = [
      "openapi",
      "info",
      "servers",
      "paths",
      "webhooks",
      "components",
      "security",
      "tags",
      "jsonSchemaDialect",
      "externalDocs",
    ];
    expect(allowed).toEqual(expect.arrayContaining(Object.keys(document)));
    expect(document["security"]).toEqual([{ apiKey: [] }]);
    expect(document["components"]).toMatchObject({ securitySchemes: { apiKey: { type: "http" } } });
  });

  test("has every route of the table, once, and nothing else", () => {
    const told = operations().map(({ path, method, operation }) => [
      operation["operationId"],
      method.toUpperCase(),
      path,
    ]);
    const table = routeList.map(({ name, method, path }) => [name, method, path]);
    expect(told.sort()).toEqual(table.sort());
  });

  test("declares each path parameter, once, and the signature's headers", () => {
    for (const { path, operation } of operations()) {
      const parameters = operation["parameters"] as Json[];
      const inPath = parameters.filter((parameter) => parameter["in"] === "path");
      expect(inPath.map(({ name }) => `{${String(name)}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      for (const parameter of inPath) expect(parameter["required"]).toBe(true);
      const headers = parameters.filter((parameter) => parameter["in"] === "header");
      expect(headers.map(({ name }) => name)).toEqual(["X-Timestamp", "X-Signature"]);
      const keys = parameters.map(
        (parameter) => `${String(parameter["in"])} ${String(parameter["name"])}`,
      );
      expect(new Set(keys).size).toBe(keys.length);
      for (const parameter of parameters) expect(parameter["schema"]).toBeTypeOf("object");
    }
  });

  test("says of the list which query parameters there are, and which of a balance is required", () => {
    const query = (id: string) =>
      (
        operations().find(({ operation }) => operation["operationId"] === id)?.operation[
          "parameters"
        ] as Json[]
      )
        .filter((parameter) => parameter["in"] === "query")
        .map(({ name, required }) => [name, required]);
    expect(query("listEntries").map(([name]) => name)).toEqual(
      expect.arrayContaining([
        "limit",
        "offset",
        "after",
        "from",
        "to",
        "externalId",
        "glAccountCode",
      ]),
    );
    expect(query("getBalance")).toEqual([
      ["account", true],
      ["currency", false],
      ["asOf", false],
    ]);
  });

  test("has replies with a status of the table, and a body wherever there is one", () => {
    for (const { operation } of operations()) {
      const route = routes[operation["operationId"] as keyof typeof routes];
      const isDone = (status: string) => Number(status) < 300;
      const statuses = Object.keys(operation["responses"] as Json);
      expect(statuses.filter(isDone).sort()).toEqual([
        String(route.status),
        ...("atomic" in route ? [String(route.atomic.status)] : []),
      ]);
      expect(statuses).toEqual(expect.arrayContaining(["401", "403", "429", "500", "503"]));
      expect("requestBody" in operation).toBe(route.body !== null);
    }
  });

  test("refers to nothing that it does not have", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, to]) => to,
    );
    expect(references.length).toBeGreaterThan(0);
    for (const reference of references) {
      const parts = (reference ?? "").replace(/^#\//, "").split("/");
      const found = parts.reduce<unknown>((at, part) => (at as Json | undefined)?.[part], document);
      expect(found, reference).toBeTypeOf("object");
    }
  });
});

describe("an unexpected error", () => {
  test("is a 500 of which nothing leaks, and the log has it under the request's id", async () => {
    const target = `/v1/ledgers/${books.ledgerId}/balances?account=1000`;
    await books.pool.run(command`ALTER TABLE account_balances RENAME TO account_balances_gone`);
    const read = await service.get(target);
    const write = await service.post(entriesPath(books.ledgerId), entry());
    const bulk = await service.post(`${entriesPath(books.ledgerId)}/bulk`, { entries: [entry()] });
    await books.pool.run(command`ALTER TABLE account_balances_gone RENAME TO account_balances`);
    expect(bulk.body).toMatchObject({ results: [{ status: 500 }] });
    const told = logged.find(({ requestId }) => requestId === bulk.headers["x-request-id"]);
    expect(told).toMatchObject({ level: 50, status: 200 });
    expect(told?.["cause"]).toContain("account_balances");
    for (const reply of [read, write]) {
      const id = String(reply.headers["x-request-id"]);
      expect(reply.status).toBe(500);
      expect(problem(reply)).toEqual({
        type: "about:blank",
        title: "Internal server error",
        status: 500,
        detail: "an unexpected error; the server's log has it under this request's id",
        instance: `urn:request:${id}`,
      });
      expect(reply.text).not.toMatch(/account_balances|relation|at /);
      const line = logged.find(({ requestId }) => requestId === id);
      expect(line).toMatchObject({ level: 50, status: 500 });
      expect(line?.["cause"]).toContain("account_balances");
    }
    expect((await service.get(target)).body).toMatchObject({ balance: 0, entryCount: 0 });
  });

  test("is a 500 and in the log for an upgrade too", async () => {
    const target = streamTarget(`${books.ledgerId}:x`);
    await books.pool.run(command`ALTER TABLE wallets RENAME TO wallets_gone`);
    const reply = await refusedUpgrade(service, target, signedHeaders(books.credentials, target));
    await books.pool.run(command`ALTER TABLE wallets_gone RENAME TO wallets`);
    expect(reply.status).toBe(500);
    expect(reply.text).not.toContain("relation");
    const id = reply.headers["x-request-id"];
    const line = logged.find(({ requestId }) => requestId === id);
    expect(line).toMatchObject({ level: 50, status: 500 });
    expect(line?.["cause"]).toContain("wallets");
  });
});

describe("the log", () => {
  test("tells the cause of a 401 and no secret", async () => {
    const headers = { "x-signature": "0".repeat(64) };
    const reply = await service.send({ target: "/v1/ledgers", headers });
    const id = reply.headers["x-request-id"];
    await expect
      .poll(() => logged.find(({ requestId }) => requestId === id))
      .toMatchObject({ status: 401, cause: "the signature does not match" });
    expectNoSecrets();
  });

  test("tells the cause of a refused upgrade, under the id that its answer has", async () => {
    const target = streamTarget(`${books.ledgerId}:x`, 0);
    const headers = { ...signedHeaders(books.credentials, target), "x-signature": "0".repeat(64) };
    const reply = await refusedUpgrade(service, target, headers);
    const id = reply.headers["x-request-id"];
    await expect
      .poll(() => logged.find(({ requestId }) => requestId === id))
      .toMatchObject({
        method: "GET",
        path: target.replace("?since=0", ""),
        status: 401,
        remoteAddress: "127.0.0.1",
        refusal: "unauthorized",
        cause: "the signature does not match",
      });
    expectNoSecrets();
  });

  test("names the caller of an upgrade, whether it was refused or not", async () => {
    const { apiKey } = books.credentials;
    const stranger = streamTarget("0190b6a0-0000-7000-8000-000000000001:x");
    const own = streamTarget(`${books.ledgerId}:the caller's`);
    const refused = await refusedUpgrade(
      service,
      stranger,
      signedHeaders(books.credentials, stranger),
    );
    expect(refused.status).toBe(404);
    const reader = await openStream(service, `${books.ledgerId}:the caller's`);
    for (const [target, status] of [
      [stranger, 404],
      [own, 101],
    ] as const) {
      await expect
        .poll(() => logged.find(({ path }) => path === target))
        .toMatchObject({ status, apiKey, organizationId: books.organizationId });
    }
    await reader.end();
  });

  function expectNoSecrets(): void {
    const text = JSON.stringify(logged);
    expect(text).not.toContain(books.credentials.apiSecret);
    expect(text).not.toContain(books.masterKey.toString("base64"));
  }

  test("has no more of a path than anybody needs", async () => {
    const target = `/v1/wallets/${books.ledgerId}:${"x".repeat(15_000)}/balance`;
    const reply = await service.send({ target, credentials: null });
    const id = reply.headers["x-request-id"];
    await expect.poll(() => logged.find(({ requestId }) => requestId === id)).toBeDefined();
    const line = logged.find(({ requestId }) => requestId === id);
    expect(line?.["path"]).toBe(target.slice(0, 512));
    expect(JSON.stringify(line).length).toBeLessThan(1_500);
  });
});
