// The shape of problem details, and of errors on wallet paths.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { entriesPath, entry, entryWithLine, postEntry, problem } from "../support/entries.ts";
import type { Reply } from "../support/signed-request.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

/** Holds a reply against the whole of a problem detail; nothing else may be in it. */
function expectProblem(
  reply: Reply,
  expected: { status: number; code?: string; title: string; [member: string]: unknown },
): void {
  const { code, ...rest } = expected;
  const type =
    code === undefined
      ? "about:blank"
      : `urn:ledgerctl:problem:${code.toLowerCase().replaceAll("_", "-")}`;
  expect(reply.status).toBe(expected.status);
  expect(problem(reply)).toEqual({
    type,
    detail: expect.stringMatching(/./) as string,
    instance: `urn:request:${String(reply.headers["x-request-id"])}`,
    ...(code === undefined ? {} : { code }),
    ...rest,
  });
}

describe("a problem detail", () => {
  test("of a 400 has a code and its errors", async () => {
    const reply = await service.post(entriesPath(service.books.ledgerId), {});
    expectProblem(reply, {
      status: 400,
      code: "VALIDATION_ERROR",
      title: "Validation failed",
      errors: [{ detail: "is required", pointer: "#/lines" }],
    });
  });

  test("of a query has the parameter's name", async () => {
    const reply = await service.get(`${entriesPath(service.books.ledgerId)}?limit=0`);
    expectProblem(reply, {
      status: 400,
      code: "VALIDATION_ERROR",
      title: "Validation failed",
      errors: [{ detail: "must be above zero", parameter: "limit" }],
    });
  });

  test("of an unknown path has no code", async () => {
    const reply = await service.get("/v1/nothing");
    expectProblem(reply, { status: 404, title: "Not found" });
  });

  test("of a duplicate names the first entry", async () => {
    const body = entry(1n, { externalId: "twice" });
    const first = await postEntry(service, body);
    expectProblem(await service.post(entriesPath(service.books.ledgerId), body), {
      status: 409,
      code: "DUPLICATE_ENTRY",
      title: "Duplicate entry",
      ...first,
    });
  });

  test("of a second reversal names the first one", async () => {
    const path = entriesPath(service.books.ledgerId);
    const { journalId } = await postEntry(service, entry());
    const reversal = await service.post(`${path}/${journalId}/reversal`);
    const { journalId: reversalJournalId } = reversal.body as { journalId: string };
    expectProblem(await service.post(`${path}/${journalId}/reversal`), {
      status: 409,
      code: "ALREADY_REVERSED",
      title: "Already reversed",
      reversalJournalId,
    });
    expectProblem(await service.post(`${path}/${reversalJournalId}/reversal`), {
      status: 409,
      code: "REVERSAL_NOT_REVERSIBLE",
      title: "Reversal not reversible",
    });
  });

  test("of an unknown entry or account says which is missing", async () => {
    const { ledgerId } = service.books;
    for (const id of [randomUUID(), "no-uuid", "%00", "."]) {
      expectProblem(await service.get(`${entriesPath(ledgerId)}/${id}`), {
        status: 404,
        code: "ENTRY_NOT_FOUND",
        title: "Entry not found",
      });
      expectProblem(await service.post(`${entriesPath(ledgerId)}/${id}/reversal`), {
        status: 404,
        code: "ENTRY_NOT_FOUND",
        title: "Entry not found",
      });
    }
    expectProblem(await service.get(`/v1/ledgers/${ledgerId}/balances?account=no`), {
      status: 404,
      code: "ACCOUNT_NOT_FOUND",
      title: "Account not found",
    });
  });

  test("of a state says which", async () => {
    const ledgerId = await service.books.createLedger();
    await service.books.changeStatus(ledgerId, "suspended");
    expectProblem(await service.post(entriesPath(ledgerId), entry()), {
      status: 403,
      code: "LEDGER_SUSPENDED",
      title: "Ledger suspended",
    });
    await service.books.changeStatus(ledgerId, "closed");
    expectProblem(await service.post(entriesPath(ledgerId), entry()), {
      status: 403,
      code: "LEDGER_CLOSED",
      title: "Ledger closed",
    });
  });

  test("of a body that is not declared JSON has no code", async () => {
    const target = entriesPath(service.books.ledgerId);
    const headers = { "content-type": "text/plain" };
    const reply = await service.send({ target, body: "{}", headers });
    expectProblem(reply, { status: 415, title: "Unsupported media type" });
  });

  test("of an account says where it stands in the body", async () => {
    const path = entriesPath(service.books.ledgerId);
    for (const glAccountCode of ["7777", "9000"]) {
      const reply = await service.post(path, entryWithLine({ glAccountCode }));
      expectProblem(reply, {
        status: 400,
        code: "VALIDATION_ERROR",
        title: "Validation failed",
        errors: [
          {
            detail: expect.stringContaining(glAccountCode) as string,
            pointer: "#/lines/0/glAccountCode",
          },
        ],
      });
    }
  });
});

describe("what is not found", () => {
  const none = "0190b6a0-0000-7000-8000-000000000001";

  test.each([
    [`/journal-entries/${none}`, `"${none}"`],
    ["/journal-entries/none", '"none"'],
    [`/journal-entries/${none}/wallet-writes`, `"${none}"`],
    [`/period-closes/${none}`, `"${none}"`],
    ["/balances?account=77%2277", '"77\\"77"'],
    ["/trial-balance?periodId=never", '"never"'],
    [`/journal-entries/${"x".repeat(2_000)}`, `"${"x".repeat(100)}…"`],
  ])("is named as it was asked for: %s", async (rest, name) => {
    const reply = await service.get(`/v1/ledgers/${service.books.ledgerId}${rest}`);
    expect(reply.status).toBe(404);
    expect(problem(reply).detail, reply.text).toContain(` ${name}`);
  });

  test("is named by a reversal and by a hold's end, too", async () => {
    const { ledgerId } = service.books;
    const reversal = await service.post(`${entriesPath(ledgerId)}/${none}/reversal`);
    expect(problem(reversal).detail).toBe(`the ledger has no entry "${none}"`);
    const wallet = `/v1/wallets/${ledgerId}:h`;
    await service.post(`${wallet}/credit`, { amount: "1", assetCode: "USD" });
    const release = await service.post(`${wallet}/holds/${none}/release`);
    expect(release.body).toEqual({ error: `the wallet has no hold "${none}"` });
  });
});

describe("an unknown ledger", () => {
  const routes = [
    ["GET", ""],
    ["GET", "/accounts"],
    ["GET", "/balances?account=1000"],
    ["GET", "/journal-entries"],
    ["POST", "/journal-entries"],
    ["GET", `/journal-entries/${randomUUID()}`],
    ["POST", `/journal-entries/${randomUUID()}/reversal`],
  ] as const;

  test.each(routes)("is the same as a foreign one and as no UUID: %s %s", async (method, rest) => {
    const organizationId = await service.books.createOrganization();
    const foreign = await service.books.createLedger({ organizationId });
    const malformed = [
      "x",
      "%00",
      "%ff",
      "..",
      `${randomUUID()}0`,
      `{${randomUUID()}}`,
      "x".repeat(5_000),
      foreign.replaceAll("-", ""),
    ];
    for (const ledgerId of [randomUUID(), foreign, ...malformed]) {
      const reply = await service.send({ target: `/v1/ledgers/${ledgerId}${rest}`, method });
      // What can't be decoded is no path at all.
      const title = ledgerId === "%ff" ? "Not found" : "Ledger not found";
      expectProblem(reply, { status: 404, title });
      if (ledgerId !== "%ff") expect(problem(reply).detail).toBe("there is no such ledger");
    }
  });
});

describe("a path under /v1/wallets/", () => {
  test.each(["/v1/wallets/", "/v1/wallets/x", "/v1/wallets/a:b/nothing", "/v1/wallets/%zz"])(
    "that is unknown answers with one member: %s",
    async (target) => {
      for (const method of ["GET", "POST", "DELETE"]) {
        const reply = await service.send({ target, method, credentials: null });
        expect(reply.status).toBe(404);
        expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
        expect(reply.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
        expect(reply.body).toEqual({ error: expect.stringMatching(/./) as string });
      }
    },
  );

  test("is one in absolute form too", async () => {
    const reply = await service.get(`http://127.0.0.1:${service.port}/v1/wallets/x`);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({ error: expect.stringMatching(/./) as string });
  });

  test("is nothing that merely looks like one", async () => {
    for (const target of ["/v1/wallets", "/v1/walletsx/y", "/V1/wallets/x", "/v1/x?/v1/wallets/"]) {
      const reply = await service.send({ target, credentials: null });
      expectProblem(reply, { status: 404, title: "Not found" });
    }
  });
});

describe("an unknown path", () => {
  test.each([
    "/",
    "/v1",
    "/v1/ledger",
    "/v2/ledgers",
    "/v1/ledgers/a/b",
    "/v1/ledgers//accounts/",
    "/v1/Ledgers",
    "//v1/ledgers",
    "/v1/ledgers/../ledgers",
  ])("is told to anybody, whatever the method: %s", async (target) => {
    for (const method of ["GET", "PUT", "POST"]) {
      const reply = await service.send({ target, method, credentials: null });
      expectProblem(reply, { status: 404, title: "Not found" });
    }
  });
});
