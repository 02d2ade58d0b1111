// Keys that lack a scope.
import { describe, expect, test } from "vitest";
import { entriesPath, entry, postEntry, problem } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

const reads = ["", "/accounts", "/assets", "/balances?account=1000", "/journal-entries"];

describe("a key with fewer scopes", () => {
  test("reads with `read` and writes nothing", async () => {
    const credentials = await service.books.createKey({ scopes: ["read"] });
    const { ledgerId } = service.books;
    const { journalId } = await postEntry(service, entry());
    const targets = [
      "/v1/ledgers",
      ...reads.map((rest) => `/v1/ledgers/${ledgerId}${rest}`),
      `${entriesPath(ledgerId)}/${journalId}`,
    ];
    for (const target of targets) {
      expect((await service.send({ target, credentials })).status, target).toBe(200);
    }
    const writes = [entriesPath(ledgerId), `${entriesPath(ledgerId)}/${journalId}/reversal`];
    for (const target of writes) {
      const reply = await service.send({ target, credentials, body: JSON.stringify(entry()) });
      expect(reply.status, target).toBe(403);
      expect(problem(reply)).toMatchObject({
        code: "INSUFFICIENT_SCOPE",
        detail: "the API key lacks the scope entries:write",
      });
    }
  });

  test("writes entries and reversals with `entries:write` and reads nothing", async () => {
    const credentials = await service.books.createKey({ scopes: ["entries:write"] });
    const path = entriesPath(service.books.ledgerId);
    const body = JSON.stringify(entry());
    const posted = await service.send({ target: path, credentials, body });
    expect(posted.status).toBe(201);
    const { journalId } = posted.body as { journalId: string };
    const target = `${path}/${journalId}/reversal`;
    expect((await service.send({ target, method: "POST", credentials })).status).toBe(201);
    for (const rest of reads) {
      const reply = await service.send({
        target: `/v1/ledgers/${service.books.ledgerId}${rest}`,
        credentials,
      });
      expect(reply.status, rest).toBe(403);
      expect(problem(reply).code).toBe("INSUFFICIENT_SCOPE");
    }
    expect((await service.send({ target: "/v1/ledgers", credentials })).status).toBe(403);
  });

  test.each(["wallets:write", "periods:close"] as const)(
    "neither reads nor posts entries with `%s` alone",
    async (scope) => {
      const credentials = await service.books.createKey({ scopes: [scope] });
      const target = entriesPath(service.books.ledgerId);
      const statuses = [
        (await service.send({ target, credentials })).status,
        (await service.send({ target, credentials, body: JSON.stringify(entry()) })).status,
      ];
      expect(statuses).toEqual([403, 403]);
    },
  );

  test("works with several scopes together", async () => {
    const credentials = await service.books.createKey({ scopes: ["read", "entries:write"] });
    const target = entriesPath(service.books.ledgerId);
    expect((await service.send({ target, credentials })).status).toBe(200);
    const body = JSON.stringify(entry());
    expect((await service.send({ target, credentials, body })).status).toBe(201);
  });
});
