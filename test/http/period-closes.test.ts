// The routes of closes: shapes, refusals, pages, proofs and bundles. What a close covers is told in
// test/engine/closes.test.ts.
import { Readable } from "node:stream";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleLines } from "../../src/cli/commands/merkle/check-close.ts";
import { canonicalJson } from "../../src/core/canonical.ts";
import type { JsonValue } from "../../src/core/journal.ts";
import { hashLeaf, rootFromPath, rootOf } from "../../src/core/merkle.ts";
import {
  closePageReply,
  closeReply,
  closeWithBalancesReply,
  proofReply,
} from "../../src/contract/replies.ts";
import type { Close } from "../../src/contract/types.ts";
import { checkBundle } from "../../src/verify/bundle.ts";
import { openEngine } from "../support/engine.ts";
import {
  entriesPath,
  entry,
  listEntries,
  pointers,
  postEntry,
  problem,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import type { Reply } from "../support/signed-request.ts";

const service = serveBooks();

const closesPath = (ledgerId = service.books.ledgerId) => `/v1/ledgers/${ledgerId}/period-closes`;
const dated = (transactionDate: string, amount = 100) => entry(amount, { transactionDate });

function closed(reply: Reply): Close {
  expect(reply.status, reply.text).toBe(201);
  expect(closeReply.parse(reply.body)).toEqual(reply.body);
  return reply.body as Close;
}

async function close(periodId: string, ledgerId?: string): Promise<Close> {
  return closed(await service.post(closesPath(ledgerId), { periodId }));
}

let january: Close;

beforeAll(async () => {
  for (const day of ["01", "15", "31"]) await postEntry(service, dated(`2026-01-${day}T12:00:00Z`));
  await postEntry(service, dated("2026-02-01T00:00:00Z"));
  january = await close("2026-01");
  await postEntry(service, dated("2026-02-02T00:00:00Z"));
});

describe("closing", () => {
  test("answers 201 with the record, the second time with the same", async () => {
    expect(january).toMatchObject({ periodId: "2026-01", reason: null, entryCount: 3 });
    const again = await service.post(closesPath(), { periodId: "2026-01", reason: "again" });
    expect(closed(again)).toEqual(january);
  });

  test("answers with the members in one order, the first time and later", async () => {
    const members = Object.keys(closeReply.shape);
    expect(Object.keys(january)).toEqual(members);
    const again = await service.post(closesPath(), { periodId: "2026-01" });
    expect(Object.keys(again.body as Close)).toEqual(members);
  });

  test.each([
    ["an empty body", {}, ["#/periodId"]],
    ["a number", { periodId: 2026 }, ["#/periodId"]],
    ["an empty label", { periodId: "" }, ["#/periodId"]],
    ["a label that is nearly a date", { periodId: "2026-13" }, ["#/periodId"]],
    ["a year that no time comes after", { periodId: "9999" }, ["#/periodId"]],
    ["a lone surrogate", { periodId: "\ud800" }, ["#/periodId"]],
    ["an unknown member", { periodId: "2030", period: "x" }, ["#/period"]],
    [
      "bounds in the wrong order",
      { periodId: "x", startsAt: "2026-01-02T00:00Z", endsAt: "2026-01-01T00:00Z" },
      ["#/endsAt"],
    ],
    [
      "bounds that are equal",
      { periodId: "x", startsAt: "2026-01-02T00:00Z", endsAt: "2026-01-02T00:00Z" },
      ["#/endsAt"],
    ],
    [
      "a start behind the label's end",
      { periodId: "2030-01", startsAt: "2030-02-01T00:00Z" },
      ["#/startsAt"],
    ],
    [
      "several faults",
      { periodId: "2026-W99", reason: 5, startsAt: "soon" },
      ["#/periodId", "#/reason", "#/startsAt"],
    ],
  ])("refuses %s", async (_, body, places) => {
    const reply = await service.post(closesPath(), body);
    expect(reply.status).toBe(400);
    expect(pointers(reply)).toEqual(places);
  });

  test("says how the end of the year 9999 is closed", async () => {
    const refused = await service.post(closesPath(), { periodId: "9999-12" });
    const [fault] = (refused.body as { errors: { detail: string }[] }).errors;
    const endsAt = "9999-12-31T23:59:59.999Z";
    expect(fault?.detail).toContain(`another label and an endsAt of ${endsAt}`);
    const bounds = { startsAt: "9999-12-01T00:00:00.000Z", endsAt };
    const ledgerId = await service.books.createLedger();
    const closes = `/v1/ledgers/${ledgerId}/period-closes`;
    const closed = await service.post(closes, { periodId: "the last month", ...bounds });
    expect(closed).toMatchObject({ status: 201, body: bounds });
  });

  test("needs the scope periods:close", async () => {
    const credentials = await service.books.createKey({ scopes: ["read", "entries:write"] });
    const body = JSON.stringify({ periodId: "2031" });
    const reply = await service.send({ target: closesPath(), credentials, body });
    expect(problem(reply)).toMatchObject({ status: 403, code: "INSUFFICIENT_SCOPE" });
  });

  test("is refused on a closed ledger, but for what is closed already", async () => {
    const ledgerId = await service.books.createLedger();
    const first = await close("2026-01", ledgerId);
    const engine = openEngine(service.books.databaseUrl);
    await engine.changeStatus(ledgerId, "closed");
    await engine.end();
    expect(await close("2026-01", ledgerId)).toEqual(first);
    const reply = await service.post(closesPath(ledgerId), { periodId: "2026-02" });
    expect(problem(reply)).toMatchObject({ status: 403, code: "LEDGER_CLOSED" });
  });
});

describe("the list of closes", () => {
  test("comes oldest first, page by page", async () => {
    const ledgerId = await service.books.createLedger();
    const months = ["2026-03", "2026-01", "2026-02"];
    for (const month of months) await close(month, ledgerId);
    const page = async (query: string) => {
      const reply = await service.get(`${closesPath(ledgerId)}${query}`);
      const { closes, total, hasMore } = closePageReply.parse(reply.body);
      return [closes.map(({ periodId }) => periodId), total, hasMore];
    };
    expect(await page("")).toEqual([months, 3, false]);
    expect(await page("?limit=2")).toEqual([months.slice(0, 2), 3, true]);
    expect(await page("?limit=2&offset=1")).toEqual([months.slice(1), 3, false]);
    expect(await page("?offset=3")).toEqual([[], 3, false]);
    expect(await page(`?offset=${Number.MAX_SAFE_INTEGER}`)).toEqual([[], 3, false]);
    expect((await service.get(`${closesPath(ledgerId)}?limit=0`)).status).toBe(400);
  });
});

describe("one close", () => {
  test("comes with its trial balance", async () => {
    const reply = await service.get(`${closesPath()}/${january.closeId}`);
    const { balances, ...record } = closeWithBalancesReply.parse(reply.body);
    expect(record).toEqual(january);
    expect(balances).toEqual([
      {
        glAccountCode: "1000",
        opening: "0",
        debits: "300",
        credits: "0",
        closing: "300",
        entryCount: 3,
      },
      {
        glAccountCode: "4000",
        opening: "0",
        debits: "0",
        credits: "-300",
        closing: "-300",
        entryCount: 3,
      },
    ]);
  });

  test.each(["", "/proof?entryId=x", "/bundle"])(
    "that is not there answers 404 at %j",
    async (rest) => {
      const other = await close("2026-01", await service.books.createLedger());
      for (const id of ["nonsense", "019aaaaa-0000-7000-8000-000000000000", other.closeId]) {
        const reply = await service.get(`${closesPath()}/${id}${rest}`);
        expect(problem(reply)).toMatchObject({ status: 404, code: "CLOSE_NOT_FOUND" });
      }
    },
  );
});

describe("a proof", () => {
  const proofPath = (entryId: string) =>
    `${closesPath()}/${january.closeId}/proof?entryId=${entryId}`;

  test("leads from an entry to the root", async () => {
    const { entries } = await listEntries(service, "?periodId=2026-01");
    expect(entries).toHaveLength(3);
    for (const [index, { journalId }] of entries.entries()) {
      const reply = await service.get(proofPath(journalId));
      const proof = proofReply.parse(reply.body);
      expect(proof).toMatchObject({ leafIndex: index, treeSize: 3, close: january });
      const leaf = hashLeaf(canonicalJson(proof.entry));
      const path = proof.auditPath.map((hash) => Buffer.from(hash, "hex"));
      expect(rootFromPath(leaf, index, 3, path)?.toString("hex")).toBe(january.merkleRoot);
    }
  });

  test("of an entry outside of the close, or of none, is 404; entryId is required", async () => {
    const { entries } = await listEntries(service, "?periodId=2026-02");
    for (const id of [entries[0]?.journalId ?? "", "x", january.closeId]) {
      const reply = await service.get(proofPath(id));
      expect(problem(reply)).toMatchObject({ status: 404, code: "ENTRY_NOT_FOUND" });
    }
    const reply = await service.get(`${closesPath()}/${january.closeId}/proof`);
    expect(problem(reply).errors).toMatchObject([{ parameter: "entryId" }]);
  });
});

test("a bundle has the record, the accounts, the entries and a trailer", async () => {
  const reply = await service.get(`${closesPath()}/${january.closeId}/bundle`);
  expect(reply.status).toBe(200);
  expect(reply.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
  expect(reply.text.endsWith("\n")).toBe(true);
  const lines = reply.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, JsonValue>);
  const [first, ...rest] = lines;
  expect(first).toEqual({ kind: "close", format: "ledgerctl-bundle-v1", close: january });
  expect(rest.map(({ kind }) => kind)).toEqual([
    ...["account", "account", "entry", "entry", "entry", "trailer"],
  ]);
  expect(rest.at(-1)).toEqual({ kind: "trailer", accounts: 2, entries: 3 });
  const documents = rest.flatMap(({ entry: document }) => document ?? []);
  const leaves = documents.map((document) => hashLeaf(canonicalJson(document)));
  expect(rootOf(leaves).toString("hex")).toBe(january.merkleRoot);
});

test("a bundle has all entries of a period that is read in several parts", async () => {
  const ledgerId = await service.books.createLedger();
  const entries = Array.from({ length: 1_000 }, (_, index) =>
    dated(index % 3 === 0 ? "2026-02-01T00:00:00Z" : "2026-01-01T00:00:00Z", index + 1),
  );
  const path = `${entriesPath(ledgerId)}/bulk`;
  expect((await service.post(path, { entries })).status).toBe(200);
  expect((await service.post(path, { entries })).status).toBe(200);
  const { closeId, closeHash } = await close("2026-01", ledgerId);
  const { text } = await service.get(`${closesPath(ledgerId)}/${closeId}/bundle`);
  const lines = bundleLines(Readable.from([Buffer.from(text)]));
  expect(await checkBundle(lines, closeHash)).toMatchObject({ ok: true, entries: 1_332 });
});

describe("entries by period", () => {
  const count = async (query: string) => (await listEntries(service, query)).total;

  test("are those of the close, or of the label's own interval", async () => {
    expect(await count("?periodId=2026-01")).toBe(3);
    expect(await count("?periodId=2026-Q1")).toBe(5);
    expect(await count("?periodId=2026-Q1&from=2026-02-01T00:00:00Z")).toBe(2);
    expect(await count("?periodId=2026-01&to=2026-01-15T00:00:00Z")).toBe(1);
  });

  test("of a label that names none are 404, and of one that is nearly a date 400", async () => {
    const path = entriesPath(service.books.ledgerId);
    const unknown = await service.get(`${path}?periodId=never`);
    expect(problem(unknown)).toMatchObject({ status: 404, code: "CLOSE_NOT_FOUND" });
    const faulty = await service.get(`${path}?periodId=2026-13`);
    expect(problem(faulty).errors).toMatchObject([{ parameter: "periodId" }]);
  });
});
