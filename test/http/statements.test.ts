// Balance sheets and income statements, against what is added up from the entries that the API lists.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditLedgers } from "../../src/audit/audit.ts";
import { statementReply } from "../../src/contract/book-replies.ts";
import type { Statement } from "../../src/contract/types.ts";
import { DaySums } from "../../src/engine/day-sums.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { listMonths } from "../../src/store/month-sums.ts";
import {
  entriesPath,
  entry,
  pointers,
  postEntry,
  problem,
  type ReadEntry,
} from "../support/entries.ts";
import {
  aTime,
  postAll,
  queryOf,
  randomChart,
  readAll,
  sampleEntries,
  sumSpans,
} from "../support/random-books.ts";
import { serveBooks } from "../support/service.ts";
import { forge } from "../support/tampering.ts";

const service = serveBooks();
let pool: Pool;

beforeAll(() => {
  const { databaseUrl } = service.books;
  pool = new Pool({ databaseUrl, connectionsMax: 4, answerTimeoutMs: 60_000 });
});

afterAll(() => pool.end());

type Kind = "balance-sheet" | "income-statement";

const pathOf = (ledgerId: string, kind: Kind) => `/v1/ledgers/${ledgerId}/statements/${kind}`;

async function read(
  ledgerId: string,
  kind: Kind,
  query: Parameters<typeof queryOf>[0] = {},
): Promise<Statement> {
  const reply = await service.get(`${pathOf(ledgerId, kind)}${queryOf(query)}`);
  expect(reply.status, reply.text).toBe(200);
  expect(statementReply.parse(reply.body)).toEqual(reply.body);
  return reply.body as Statement;
}

const typeOf = (code: string) =>
  randomChart.find(({ glAccountCode }) => glAccountCode === code)?.type ?? "untyped";

/** Each line of an entry that passes, added to its account. */
function sumOf(entries: readonly ReadEntry[], passes: (entry: ReadEntry) => boolean) {
  const sums = new Map<string, bigint>();
  for (const { lines } of entries.filter(passes)) {
    for (const line of lines) {
      const code = String(line["glAccountCode"]);
      sums.set(code, (sums.get(code) ?? 0n) + BigInt(String(line["functionalAmount"])));
    }
  }
  return sums;
}

/** A statement as somebody makes it by hand, column after column. */
function statementOf(entries: readonly ReadEntry[], kind: Kind, columns: Statement["columns"]) {
  const closing = new Set(
    entries.flatMap(({ journalId, entryType }) => (entryType === "CLOSING" ? journalId : [])),
  );
  const isClosing = ({ journalId, reversesJournalId }: ReadEntry) =>
    closing.has(journalId) || closing.has(String(reversesJournalId));
  const isSheet = kind === "balance-sheet";
  const types = isSheet ? ["asset", "liability", "equity"] : ["income", "expense"];
  const sums = columns.map(({ from, to }) =>
    sumOf(
      entries,
      (each) =>
        each.transactionDate < to &&
        (isSheet || ((from === null || each.transactionDate >= from) && !isClosing(each))),
    ),
  );
  const codes = [...new Set(sums.flatMap((each) => [...each.keys()]))].sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  const total = (each: ReadonlyMap<string, bigint>, ofTypes: readonly string[]) =>
    [...each].reduce(
      (sum, [code, amount]) => sum + (ofTypes.includes(typeOf(code)) ? amount : 0n),
      0n,
    );
  const ends = columns.map(({ to }) =>
    sumOf(entries, ({ transactionDate }) => transactionDate < to),
  );
  // Without accounts that have a balance and no type, the rest does not balance.
  const isMissed = (code: string) => ends.some((each) => (each.get(code) ?? 0n) !== 0n);
  const untyped = randomChart.map(({ glAccountCode }) => glAccountCode);
  const listed = [
    ...codes,
    ...untyped.filter((code) => typeOf(code) === "untyped" && isMissed(code)),
  ];
  return {
    columns,
    groups: [...types, "untyped"].map((type) => ({
      type,
      accounts: [...new Set(listed)]
        .filter((code) => typeOf(code) === type)
        .map((glAccountCode) => ({
          glAccountCode,
          name: `Account ${glAccountCode}`,
          amounts: sums.map((each) => String(each.get(glAccountCode) ?? 0n)),
        })),
      totals: sums.map((each) => String(total(each, [type]))),
    })),
    result: sums.map((each) => String(total(each, ["income", "expense"]))),
    balances: ends.every(
      (each) => total(each, ["asset", "liability", "equity", "income", "expense"]) === 0n,
    ),
  };
}

const aRange = fc.oneof(
  fc.record({ from: fc.option(aTime), to: aTime }),
  fc.record({ asOf: aTime }),
  fc.record({ periodId: fc.constantFrom("2025", "2025-12", "2026-Q1", "2026-01-02") }),
);

describe.each([
  ["nothing is summed", []],
  ["spans of 16 entries", [16]],
  ["spans of several lengths", [100, 7, 64]],
  ["spans of one entry", [1]],
])("with %s", (_, spans) => {
  let ledgerId: string;

  beforeAll(async () => {
    ledgerId = await service.books.createLedger({ chart: randomChart });
    const generated = sampleEntries(210, 21);
    const first = 200 - spans.length * 40;
    await postAll(service, ledgerId, generated.slice(0, first));
    for (const [index, span] of spans.entries()) {
      await sumSpans(pool, span);
      const next = first + index * 40;
      await postAll(service, ledgerId, generated.slice(next, next + 40));
    }
    const closing = (await readAll(service, ledgerId)).filter(
      ({ entryType }) => entryType === "CLOSING",
    );
    const reverse = async ({ journalId }: ReadEntry) => {
      const reply = await service.post(`${entriesPath(ledgerId)}/${journalId}/reversal`);
      expect(reply.status, reply.text).toBe(201);
    };
    for (const each of closing.slice(0, 3)) await reverse(each);
    // What is in sums with its original, and what is read one by one.
    for (const span of spans.slice(0, 1)) await sumSpans(pool, span);
    for (const each of closing.slice(3, 5)) await reverse(each);
    await postAll(service, ledgerId, generated.slice(200));
  });

  test("any statement of any range, in any steps, is what the entries add up to", () =>
    expectStatementsOfEntries(ledgerId));
});

describe("with sums by month that are older than those by day", () => {
  let ledgerId: string;

  beforeAll(async () => {
    ledgerId = await service.books.createLedger({ chart: randomChart });
    const sums = new DaySums(pool, {
      ...{ intervalMs: 1, spanEntries: 20, monthsIntervalMs: Infinity },
      onFailure: (error) => {
        throw error;
      },
    });
    await postAll(service, ledgerId, sampleEntries(120, 33));
    await sums.sumAll();
    const later = sampleEntries(40, 34);
    const inJanuary = { transactionDate: "2026-01-02T11:30:00Z" };
    await postAll(
      service,
      ledgerId,
      later.map((each) => ({ ...each, ...inJanuary })),
    );
    await sums.sumAll();
  });

  test("a month that has got entries since is read by its days", async () => {
    const months = await listMonths(pool, ledgerId);
    expect(months.flatMap(({ month, isSummed }) => (isSummed ? [] : month))).toEqual([
      "2026-01-01",
    ]);
    expect(months.length).toBeGreaterThan(4);
    await expectStatementsOfEntries(ledgerId);
  });

  // What is before January is the longest run of months whose sums have all entries.
  test("sums of other months are what is read, and audited", async () => {
    const result = async () =>
      BigInt((await read(ledgerId, "income-statement", { periodId: "2025-12" })).result[0] ?? "");
    const before = await result();
    await forge(
      service.books,
      `UPDATE journal_months
          SET functional_amounts = ARRAY(SELECT amount + 1 FROM unnest(functional_amounts) AS amount)
        WHERE ledger_id = '${ledgerId}' AND month = '2025-12-01'`,
    );
    expect(await result()).toBeGreaterThan(before);
    const report = await pool.snapshot((snapshot) => auditLedgers(snapshot, ledgerId));
    const faults = report?.checks.filter(({ ok }) => !ok) ?? [];
    expect(faults.map(({ name }) => name)).toEqual(["day-sums"]);
    expect(JSON.stringify(faults)).toContain("month 2025-12");
  });
});

/** Of ranges, kinds and steps at random. */
async function expectStatementsOfEntries(ledgerId: string): Promise<void> {
  const entries = await readAll(service, ledgerId);
  const kinds = fc.constantFrom<Kind>("balance-sheet", "income-statement");
  const steps = fc.constantFrom(null, "month", "quarter", "year");
  const property = fc.asyncProperty(aRange, kinds, steps, async (range, kind, by) => {
    const { from = null, to = null } = range as { from?: string | null; to?: string };
    fc.pre(from === null || to === null || from < to);
    const reply = await service.get(`${pathOf(ledgerId, kind)}${queryOf({ ...range, by })}`);
    // From the year 1 to now there are too many columns.
    if (reply.status === 400) {
      expect(pointers(reply)).toEqual(["by"]);
      return;
    }
    expect(reply.status, reply.text).toBe(200);
    const statement = reply.body as Statement;
    expect(statement).toEqual(statementOf(entries, kind, statement.columns));
  });
  await fc.assert(property, { numRuns: 100 });
}

describe("a small firm's books", () => {
  let ledgerId: string;
  const between = (debit: string, credit: string, amount: number, date: string, more = {}) => ({
    transactionDate: `${date}T12:00:00Z`,
    lines: [
      { glAccountCode: debit, functionalAmount: String(amount) },
      { glAccountCode: credit, functionalAmount: String(-amount) },
    ],
    ...more,
  });

  beforeAll(async () => {
    ledgerId = await service.books.createLedger({ chart: randomChart });
    await postAll(service, ledgerId, [
      between("1000", "3000", 1_000, "2025-01-01"),
      between("1000", "4000", 300, "2025-02-10"),
      between("5000", "2000", 120, "2025-03-20"),
      between("4000", "3000", 300, "2025-12-31", { entryType: "CLOSING" }),
      between("3000", "5000", 120, "2025-12-31", { entryType: "CLOSING" }),
      between("1000", "4000", 50, "2026-01-05"),
    ]);
  });

  test("a balance sheet is the state at the end of each column, closing entries included", async () => {
    const sheet = await read(ledgerId, "balance-sheet", { to: "2026-02-01T00:00:00Z", by: "year" });
    expect(sheet.columns).toEqual([
      { from: "2025-01-01T00:00:00.000Z", to: "2026-01-01T00:00:00.000Z" },
      { from: "2026-01-01T00:00:00.000Z", to: "2026-02-01T00:00:00.000Z" },
    ]);
    const totals = Object.fromEntries(sheet.groups.map(({ type, totals }) => [type, totals]));
    expect(totals).toEqual({
      asset: ["1300", "1350"],
      liability: ["-120", "-120"],
      equity: ["-1180", "-1180"],
      untyped: ["0", "0"],
    });
    // A profit is a credit, as income is.
    expect(sheet.result).toEqual(["0", "-50"]);
    expect(sheet.balances).toBe(true);
  });

  test("before the closing entries, the profit is the result to date", async () => {
    const sheet = await read(ledgerId, "balance-sheet", { asOf: "2025-07-01T00:00:00Z" });
    expect(sheet.columns).toEqual([{ from: null, to: "2025-07-01T00:00:00.000Z" }]);
    expect([sheet.result, sheet.balances]).toEqual([["-180"], true]);
  });

  test("an income statement has what each column moved, without closing entries", async () => {
    const query = { periodId: "2025", by: "quarter" };
    const statement = await read(ledgerId, "income-statement", query);
    expect(statement.groups).toEqual([
      {
        type: "income",
        accounts: [
          { glAccountCode: "4000", name: "Account 4000", amounts: ["-300", "0", "0", "0"] },
        ],
        totals: ["-300", "0", "0", "0"],
      },
      {
        type: "expense",
        accounts: [
          { glAccountCode: "5000", name: "Account 5000", amounts: ["120", "0", "0", "0"] },
        ],
        totals: ["120", "0", "0", "0"],
      },
      { type: "untyped", accounts: [], totals: ["0", "0", "0", "0"] },
    ]);
    expect(statement.result).toEqual(["-180", "0", "0", "0"]);
  });

  test("money on an account without a type is listed apart, and the sheet does not balance", async () => {
    const other = await service.books.createLedger({ chart: randomChart });
    await postAll(service, other, [between("1000", "9999", 7, "2025-01-01")]);
    const sheet = await read(other, "balance-sheet", {});
    expect(sheet.balances).toBe(false);
    expect(sheet.groups.find(({ type }) => type === "untyped")?.accounts).toEqual([
      { glAccountCode: "9999", name: "Account 9999", amounts: ["-7"] },
    ]);
  });

  test("without a range it goes from the first entry up to now", async () => {
    const other = await service.books.createLedger({ chart: randomChart });
    const empty = await read(other, "income-statement", { by: "month" });
    expect([empty.columns.length, empty.columns[0]?.from, empty.result]).toEqual([1, null, ["0"]]);
    const { persistedAt } = await postEntry(service, entry(3), other);
    await postEntry(service, entry(4, { transactionDate: "9999-01-01T00:00:00Z" }), other);
    const statement = await read(other, "income-statement", { by: "month" });
    expect(statement.columns).toHaveLength(1);
    expect(statement.columns[0]?.from).toBe(`${persistedAt.slice(0, 7)}-01T00:00:00.000Z`);
    expect(statement.result).toEqual(["-3"]);
  });
});

describe("refuses", () => {
  test.each([
    ["by=day", ["by"]],
    ["by=month&from=2000-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", ["by"]],
    ["from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", ["to"]],
    ["from=9999-02-01T00:00:00Z", ["from"]],
    ["asOf=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", ["asOf"]],
    ["asOf=2026-01-01T00:00:00Z&periodId=2026", ["periodId"]],
    ["from=2026-01-01T00:00:00Z&periodId=2026", ["periodId"]],
    ["asOf=2026-01-01", ["asOf"]],
    ["periodId=2026-13", ["periodId"]],
  ])("?%s", async (query, named) => {
    for (const kind of ["balance-sheet", "income-statement"] as const) {
      const reply = await service.get(`${pathOf(service.books.ledgerId, kind)}?${query}`);
      expect(pointers(reply)).toEqual(named);
    }
  });

  test("a label that means no period, and another statement: 404", async () => {
    const { ledgerId } = service.books;
    const reply = await service.get(`${pathOf(ledgerId, "balance-sheet")}?periodId=my%20period`);
    expect(problem(reply).code).toBe("CLOSE_NOT_FOUND");
    const other = await service.get(`/v1/ledgers/${ledgerId}/statements/cash-flow`);
    expect(other.status).toBe(404);
  });
});
