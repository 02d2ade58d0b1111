// Labels and descriptions: any character, bounded length, and back as they were sent.
import { describe, expect, test } from "vitest";
import {
  entriesPath,
  entry,
  entryWithLine,
  pointers,
  postAndRead,
  postEntry,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const post = (body: unknown) => service.post(entriesPath(service.books.ledgerId), body);

const labels = ["externalId", "originSystem", "originAccount", "eventType"] as const;
const lineLabels = ["glAccountCode", "functionalCurrency", "transactionCurrency"] as const;
const broken = ["\0", "a\0b", "\ud800", "\udc00x", "\ude00\ud83d"];

describe("a label", () => {
  test.each(labels)("has 1 to 256 code points: %s", async (label) => {
    for (const text of [
      "x",
      "x".repeat(256),
      "😀".repeat(256),
      `${"😀".repeat(255)}x`,
      " ",
      "\u0001",
    ]) {
      const read = await postAndRead(service, entry(1n, { [label]: text }));
      expect(read).toMatchObject({ [label]: text });
    }
    for (const text of ["", "x".repeat(257), "😀".repeat(257), `${"😀".repeat(256)}x`]) {
      expect(pointers(await post(entry(1n, { [label]: text })))).toEqual([`#/${label}`]);
    }
  });

  test.each([...labels, "description"])("has no NUL and no lone surrogate: %s", async (label) => {
    for (const text of broken) {
      expect(pointers(await post(entry(1n, { [label]: text })))).toEqual([`#/${label}`]);
    }
  });

  test.each([...labels, "description"])("is a string: %s", async (label) => {
    for (const value of [1, true, [], {}, ["x"]]) {
      expect(pointers(await post(entry(1n, { [label]: value })))).toEqual([`#/${label}`]);
    }
  });

  test.each(lineLabels)("of a line has 1 to 256 code points: %s", async (label) => {
    for (const text of ["", "x".repeat(257), "😀".repeat(257), ...broken, 1, {}]) {
      const line = { [label]: text, transactionAmount: "100" };
      expect(pointers(await post(entryWithLine(line)))).toEqual([`#/lines/0/${label}`]);
    }
  });

  test("of a currency may have 256 astral characters", async () => {
    const transactionCurrency = "😀".repeat(256);
    const line = { transactionCurrency, transactionAmount: "7" };
    expect((await postAndRead(service, entryWithLine(line))).lines[0]).toMatchObject(line);
  });
});

describe("a description", () => {
  test("has 1 to 1,024 code points, on an entry and on a line", async () => {
    for (const description of ["x", "x".repeat(1024), "😀".repeat(1024)]) {
      const read = await postAndRead(service, {
        ...entryWithLine({ description }),
        description,
      });
      expect(read.description).toBe(description);
      expect(read.lines[0]?.["description"]).toBe(description);
    }
    for (const description of ["", "x".repeat(1025), "😀".repeat(1025), ...broken]) {
      const reply = await post({ ...entryWithLine({ description }), description });
      expect(pointers(reply).sort()).toEqual(["#/description", "#/lines/0/description"]);
    }
  });
});

describe("text in a reversal", () => {
  test("is held to the same bounds", async () => {
    const { journalId } = await postEntry(service, entry());
    const path = `${entriesPath(service.books.ledgerId)}/${journalId}/reversal`;
    const cases: [string, string][] = [
      ["externalId", "x".repeat(257)],
      ["externalId", ""],
      ["description", "😀".repeat(1025)],
      ["reason", "x".repeat(1025)],
      ["reason", ""],
      ...broken.flatMap((text): [string, string][] => [
        ["externalId", text],
        ["description", text],
        ["reason", text],
      ]),
    ];
    for (const [member, text] of cases) {
      expect(pointers(await service.post(path, { [member]: text }))).toEqual([`#/${member}`]);
    }
    const reason = "😀".repeat(1024);
    expect((await service.post(path, { reason, externalId: "é".repeat(256) })).status).toBe(201);
  });
});

describe("text in a query", () => {
  test.each(["%00", "x".repeat(257), "%ED%A0%80", "%ff", "%zz", "", "%F0%9F%98%80".repeat(257)])(
    "that is none is refused: %s",
    async (text) => {
      const { ledgerId } = service.books;
      const balance = await service.get(`/v1/ledgers/${ledgerId}/balances?account=${text}`);
      expect(pointers(balance)).toEqual(["account"]);
      const currency = await service.get(
        `/v1/ledgers/${ledgerId}/balances?account=1000&currency=${text}`,
      );
      expect(pointers(currency)).toEqual(["currency"]);
      for (const filter of ["externalId", "glAccountCode"]) {
        const list = await service.get(`${entriesPath(ledgerId)}?${filter}=${text}`);
        expect(pointers(list)).toEqual([filter]);
      }
    },
  );

  test("is decoded from UTF-8, with + as a space", async () => {
    const externalId = 'ä +&=%😀"\\{}NULL';
    const { journalId } = await postEntry(service, entry(1n, { externalId }));
    const query = new URLSearchParams({ externalId }).toString();
    const reply = await service.get(`${entriesPath(service.books.ledgerId)}?${query}`);
    expect(reply.body).toMatchObject({ total: 1, entries: [{ journalId, externalId }] });
  });
});

test("texts that look like SQL, arrays or JSON come back as they were sent", async () => {
  for (const text of [
    "NULL",
    "null",
    "{a,b}",
    '"',
    "\\",
    "'; DROP TABLE x; --",
    "\t\n\r",
    "\u2028",
    "\ufeff",
    "\uffff",
    "e\u0301",
    "é",
  ]) {
    const read = await postAndRead(service, {
      ...entryWithLine({ description: text, transactionCurrency: text, transactionAmount: "3" }),
      externalId: text,
      originSystem: text,
      originAccount: text,
      eventType: text,
      description: text,
      metadata: { [text]: text },
    });
    expect(read).toMatchObject({
      externalId: text,
      originSystem: text,
      originAccount: text,
      eventType: text,
      description: text,
      metadata: { [text]: text },
      lines: [{ description: text, transactionCurrency: text }, {}],
    });
  }
});

test("externalIds are told apart by their code points, not by how they look", async () => {
  for (const externalId of ["Å", "A\u030a", "\u212b", "å", "Å "]) {
    expect((await post(entry(1n, { externalId }))).status).toBe(201);
  }
});
