// The body of an entry: its members and lines, what is required and what is refused.
import { describe, expect, test } from "vitest";
import {
  entriesPath,
  entry,
  entryWithLine,
  pointers,
  postAndRead,
  postEntry,
  problem,
  written,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const post = (body: unknown) => service.post(entriesPath(service.books.ledgerId), body);

describe("the body of an entry", () => {
  test.each([
    ["nothing", ""],
    ["white space", " \n"],
    ["half an object", '{"lines":['],
    ["a comma too many", '{"lines":[],}'],
    ["single quotes", "{'lines':[]}"],
    ["two documents", "{}{}"],
    ["a byte order mark", `\ufeff${JSON.stringify(entry())}`],
    ["NaN", '{"lines":NaN}'],
    ["a raw line feed in a string", '{"externalId":"a\nb"}'],
    ["a list", "[]"],
    ["null", "null"],
    ["a string", '"{}"'],
    ["a number", "1"],
  ])("has to be a JSON object: %s", async (_, body) => {
    expect(pointers(await post(body))).toEqual(["#"]);
  });

  test("has to be UTF-8", async () => {
    const text = JSON.stringify(entry(1n, { description: "ä" }));
    expect(pointers(await post(Buffer.from(text, "latin1")))).toEqual(["#"]);
    const surrogate = Buffer.from(text.replace("ä", "\ufffd"));
    surrogate.set([0xed, 0xa0, 0x80], surrogate.indexOf(Buffer.from("\ufffd")));
    expect(pointers(await post(surrogate))).toEqual(["#"]);
    expect(pointers(await post(Buffer.from(text, "utf16le")))).toEqual(["#"]);
    expect((await post(Buffer.from(text, "utf8"))).status).toBe(201);
  });

  test("is needed, whatever Content-Type says of an empty one", async () => {
    for (const type of ["application/json", "text/plain", undefined]) {
      const reply = await service.send({
        target: entriesPath(service.books.ledgerId),
        body: "",
        headers: { "content-type": type },
      });
      expect(pointers(reply)).toEqual(["#"]);
    }
  });

  test("may name members in any order and escape them", async () => {
    const body =
      '{"line\\u0073":[{"functional\\u0041mount":"1","glAccountCode":"1000"},{"glAccountCode":"4000","functionalAmount":"-1"}]}';
    expect((await post(body)).status).toBe(201);
  });

  test("counts the last of duplicate members", async () => {
    const lines = JSON.stringify(entry(7n).lines);
    const read = await postAndRead(
      service,
      `{"lines":[],"externalId":"first","lines":${lines},"externalId":"last"}`,
    );
    expect(read).toMatchObject({ externalId: "last", lines: [{ functionalAmount: "7" }, {}] });
  });
});

describe("members", () => {
  test("that are unknown are refused, on the entry and on its lines", async () => {
    for (const name of [
      "externalID",
      "ExternalId",
      "amount",
      "sequence",
      "journalId",
      "persistedAt",
      "reversesJournalId",
      "__proto__",
      "constructor",
      "toString",
      "",
    ]) {
      const json = JSON.stringify(name);
      const lines = JSON.stringify(entry().lines);
      expect(pointers(await post(`{"lines":${lines},${json}:1}`))).toEqual([`#/${name}`]);
      expect(pointers(await post(`{"lines":${lines},${json}:null}`))).toEqual([`#/${name}`]);
      const line = lines.replace("{", `{${json}:1,`);
      expect(pointers(await post(`{"lines":${line}}`))).toEqual([`#/lines/0/${name}`]);
    }
  });

  test("that are null are as good as absent", async () => {
    const nulls = {
      externalId: null,
      originSystem: null,
      originAccount: null,
      eventType: null,
      description: null,
      transactionDate: null,
      entryType: null,
      postingStatus: null,
      metadata: null,
    };
    const lineNulls = {
      functionalCurrency: null,
      transactionAmount: null,
      transactionCurrency: null,
      spotRate: null,
      description: null,
    };
    const read = await postAndRead(service, { ...entryWithLine(lineNulls), ...nulls });
    expect(read).toEqual({
      journalId: read.journalId,
      ledgerId: service.books.ledgerId,
      sequence: read.sequence,
      externalId: null,
      originSystem: null,
      originAccount: null,
      eventType: null,
      description: null,
      transactionDate: read.persistedAt,
      entryType: "STANDARD",
      postingStatus: "POSTED",
      metadata: {},
      persistedAt: read.persistedAt,
      reversesJournalId: null,
      reversedByJournalId: null,
      lines: [
        {
          glAccountCode: "1000",
          description: null,
          transactionAmount: "100",
          transactionCurrency: "USD",
          functionalAmount: "100",
          functionalCurrency: "USD",
          spotRate: null,
        },
        {
          glAccountCode: "4000",
          description: null,
          transactionAmount: "-100",
          transactionCurrency: "USD",
          functionalAmount: "-100",
          functionalCurrency: "USD",
          spotRate: null,
        },
      ],
    });
  });

  test("come back as they were sent", async () => {
    const sent = {
      externalId: "inv-1",
      originSystem: "billing",
      originAccount: "acme",
      eventType: "invoice.issued",
      description: "an invoice",
      transactionDate: "2026-01-31T23:59:59.999Z",
      entryType: "ADJUSTING",
      postingStatus: "POSTED",
      metadata: { a: [1] },
      lines: [
        {
          glAccountCode: "1000",
          description: "debit",
          transactionAmount: "92",
          transactionCurrency: "EUR",
          functionalAmount: "100",
          functionalCurrency: "USD",
          spotRate: 1.0845,
        },
        {
          glAccountCode: "4000",
          description: "credit",
          transactionAmount: "-100",
          transactionCurrency: "USD",
          functionalAmount: "-100",
          functionalCurrency: "USD",
          spotRate: 1,
        },
      ],
    };
    expect(await postAndRead(service, sent)).toMatchObject(sent);
  });
});

describe("the type of an entry", () => {
  test.each(["STANDARD", "ADJUSTING", "OPENING", "CLOSING"])("may be %s", async (entryType) => {
    expect((await postAndRead(service, entry(1n, { entryType }))).entryType).toBe(entryType);
  });

  test("is not REVERSAL, and names the endpoint that makes one", async () => {
    const reply = await post(entry(1n, { entryType: "REVERSAL" }));
    expect(problem(reply).errors).toEqual([
      {
        detail: expect.stringContaining("/journal-entries/{entryId}/reversal") as string,
        pointer: "#/entryType",
      },
    ]);
  });

  test.each(["standard", "", "OTHER", 1, []])("is not %j", async (entryType) => {
    expect(pointers(await post(entry(1n, { entryType })))).toEqual(["#/entryType"]);
  });

  test.each(["posted", "DRAFT", "", 1])("is posted and not %j", async (postingStatus) => {
    expect(pointers(await post(entry(1n, { postingStatus })))).toEqual(["#/postingStatus"]);
  });
});

describe("the lines of an entry", () => {
  test("are 2 to 1,000", async () => {
    const lines = (count: number) => [
      ...Array.from({ length: count - 1 }, () => ({
        glAccountCode: "1000",
        functionalAmount: "1",
      })),
      { glAccountCode: "4000", functionalAmount: String(1 - count) },
    ];
    const read = await postAndRead(service, { lines: lines(1000) });
    expect(read.lines).toHaveLength(1000);
    expect(read.lines.at(-1)).toMatchObject({ glAccountCode: "4000", functionalAmount: "-999" });
    expect(pointers(await post({ lines: lines(1001) }))).toEqual(["#/lines"]);
    expect(pointers(await post({ lines: lines(2).slice(1) }))).toContain("#/lines");
    expect(pointers(await post({ lines: [] }))).toEqual(["#/lines"]);
  });

  test.each([undefined, null, "x", 1, {}, { 0: {} }])("are a list and not %j", async (lines) => {
    expect(pointers(await post({ lines }))).toEqual(["#/lines"]);
  });

  test.each([null, "x", 1, []])("are objects and not %j", async (line) => {
    expect(pointers(await post({ lines: [line, ...entry().lines] }))).toEqual(["#/lines/0"]);
  });

  test("keep the order in which they were sent", async () => {
    const lines = Array.from({ length: 40 }, (_, index) => ({
      glAccountCode: index % 2 === 0 ? "1000" : "4000",
      functionalAmount: String(index % 2 === 0 ? index + 1 : -index),
      description: String(index),
    }));
    const read = await postAndRead(service, { lines });
    expect(read.lines.map((line) => line["description"])).toEqual(
      lines.map(({ description }) => description),
    );
  });
});

test("the result of a write is exactly its id and its time", async () => {
  const reply = await post(entry());
  expect(Object.keys(written(reply)).sort()).toEqual(["journalId", "persistedAt"]);
  const { journalId, persistedAt } = await postEntry(service, entry());
  expect(journalId).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(persistedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});
