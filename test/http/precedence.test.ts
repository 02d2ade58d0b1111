// Contract, section 2: when several refusals apply, the first of the list is answered. Each test sets
// up two (or more) that apply at once.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  entriesPath,
  entry,
  entryWithLine,
  postEntry,
  reverseEntry,
  type Problem,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import type { Credentials, Reply } from "../support/signed-request.ts";

const service = serveBooks();
const big = "x".repeat(1024 * 1024 + 1);
const wrongType = { "content-type": "text/plain" };

let readOnly: Credentials;
let suspended: string;
let path: string;
/** Of the suspended ledger: an entry with the externalId "used", a reversed entry, its reversal. */
let usedId: string;
let reversedId: string;
let reversalId: string;

beforeAll(async () => {
  readOnly = await service.books.createKey({ scopes: ["read"] });
  suspended = await service.books.createLedger();
  path = entriesPath(suspended);
  usedId = (await postEntry(service, entry(1n, { externalId: "used" }), suspended)).journalId;
  reversedId = (await postEntry(service, entry(2n), suspended)).journalId;
  reversalId = (await reverseEntry(service, reversedId, suspended)).journalId;
  await service.books.changeStatus(suspended, "suspended");
});

/** Status, and code or title of a reply. */
function verdict(reply: Reply): string {
  const { code, title } = reply.body as Problem;
  return `${reply.status} ${code ?? title}`;
}

describe("what comes first", () => {
  test("an unknown path, before method, size and signature", async () => {
    const target = "/v1/nothing";
    const reply = await service.send({ target, method: "DELETE", body: big, credentials: null });
    expect(verdict(reply)).toBe("404 Not found");
  });

  test("the method, before size, signature and ledger", async () => {
    const target = `/v1/ledgers/${randomUUID()}/journal-entries`;
    const reply = await service.send({ target, method: "PUT", body: big, credentials: null });
    expect(verdict(reply)).toBe("405 Method not allowed");
  });

  test("the size, before signature and ledger", async () => {
    const target = `/v1/ledgers/${randomUUID()}/journal-entries`;
    const reply = await service.send({ target, body: big, credentials: null });
    expect(verdict(reply)).toBe("413 Body too large");
    const chunked = { "content-length": undefined, "transfer-encoding": "chunked" };
    const unsized = await service.send({ target, body: big, credentials: null, headers: chunked });
    expect(verdict(unsized)).toBe("413 Body too large");
  });

  test("the signature, before ledger, scope, media type and shape", async () => {
    const target = `/v1/ledgers/${randomUUID()}/journal-entries?limit=0`;
    for (const method of ["GET", "POST"]) {
      const signed = { target, method, body: "{", headers: wrongType };
      expect(verdict(await service.send({ ...signed, credentials: null }))).toBe(
        "401 Unauthorized",
      );
      const wrong = { apiKey: readOnly.apiKey, apiSecret: `ls_${"A".repeat(43)}` };
      expect(verdict(await service.send({ ...signed, credentials: wrong }))).toBe(
        "401 Unauthorized",
      );
    }
  });

  test("the ledger, before scope, media type and shape", async () => {
    const target = `/v1/ledgers/${randomUUID()}/journal-entries`;
    const reply = await service.send({
      target,
      body: "{",
      headers: wrongType,
      credentials: readOnly,
    });
    expect(verdict(reply)).toBe("404 Ledger not found");
  });

  test("the ledger, before a faulty query", async () => {
    const reply = await service.get(`/v1/ledgers/${randomUUID()}/journal-entries?limit=0`);
    expect(verdict(reply)).toBe("404 Ledger not found");
  });

  test("the scope, before media type, shape, duplicate and state", async () => {
    for (const body of ["{", JSON.stringify(entry(1n, { externalId: "used" }))]) {
      const reply = await service.send({
        target: path,
        body,
        headers: wrongType,
        credentials: readOnly,
      });
      expect(verdict(reply)).toBe("403 INSUFFICIENT_SCOPE");
    }
  });

  test("the media type, before the body's shape", async () => {
    const reply = await service.send({ target: path, body: "{", headers: wrongType });
    expect(verdict(reply)).toBe("415 Unsupported media type");
  });

  test("the media type, before duplicate and state", async () => {
    const body = JSON.stringify(entry(1n, { externalId: "used" }));
    const reply = await service.send({ target: path, body, headers: wrongType });
    expect(verdict(reply)).toBe("415 Unsupported media type");
  });

  test("the shape, before duplicate and state", async () => {
    const reply = await service.post(path, { ...entry(1n, { externalId: "used" }), extra: 1 });
    expect(verdict(reply)).toBe("400 VALIDATION_ERROR");
    const unbalanced = { externalId: "used", lines: entry().lines.slice(1) };
    expect(verdict(await service.post(path, unbalanced))).toBe("400 VALIDATION_ERROR");
  });

  test("the shape of a reversal, before its duplicate, its entry and the state", async () => {
    const body = { externalId: "used", extra: 1 };
    for (const id of [reversedId, randomUUID(), "no-uuid"]) {
      const reply = await service.post(`${path}/${id}/reversal`, body);
      expect(verdict(reply)).toBe("400 VALIDATION_ERROR");
    }
  });

  test("a duplicate, before state and accounts", async () => {
    const body = { ...entryWithLine({ glAccountCode: "7777" }), externalId: "used" };
    const reply = await service.post(path, body);
    expect(verdict(reply)).toBe("409 DUPLICATE_ENTRY");
    expect(reply.body).toMatchObject({ journalId: usedId });
  });

  test("a duplicate, before a functional currency that is not the ledger's", async () => {
    const lines = entry().lines.map((line) => ({ ...line, functionalCurrency: "EUR" }));
    const reply = await service.post(path, { lines, externalId: "used" });
    expect(verdict(reply)).toBe("409 DUPLICATE_ENTRY");
  });

  test("the duplicate of a reversal, before state and unknown entry", async () => {
    for (const id of [reversedId, reversalId, randomUUID(), "no-uuid"]) {
      const reply = await service.post(`${path}/${id}/reversal`, { externalId: "used" });
      expect(verdict(reply)).toBe("409 DUPLICATE_ENTRY");
    }
  });

  test("already reversed, before state", async () => {
    const reply = await service.post(`${path}/${reversedId}/reversal`);
    expect(verdict(reply)).toBe("409 ALREADY_REVERSED");
    expect(reply.body).toMatchObject({ reversalJournalId: reversalId });
  });

  test("the state, before accounts, unknown entry and what can't be reversed", async () => {
    const unknownAccount = entryWithLine({ glAccountCode: "7777" });
    expect(verdict(await service.post(path, unknownAccount))).toBe("403 LEDGER_SUSPENDED");
    for (const id of [randomUUID(), "no-uuid", reversalId]) {
      const reply = await service.post(`${path}/${id}/reversal`);
      expect(verdict(reply)).toBe("403 LEDGER_SUSPENDED");
    }
  });

  test("a faulty query, before what is missing inside the ledger", async () => {
    const balances = `/v1/ledgers/${suspended}/balances`;
    const reply = await service.get(`${balances}?account=no&account=no`);
    expect(verdict(reply)).toBe("400 VALIDATION_ERROR");
  });
});
