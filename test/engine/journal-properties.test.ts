// Any stream of valid and invalid writes, from many clients over two services on one database, leaves
// books that add up and replies that were true.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { leafOf, type LeafDocument } from "../support/canonical-oracle.ts";
import { entriesPath, type Problem, type ReadEntry, type ReadPage } from "../support/entries.ts";
import type { Reply } from "../support/signed-request.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { sql } from "../../src/store/database/statement.ts";

let books: TestBooks;
let services: TestService[];

beforeAll(async () => {
  books = await createBooks();
  services = [await startService(books), await startService(books)];
});

afterAll(async () => {
  for (const service of services) await service.stop();
  await books.drop();
});

const externalId = fc.option(fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"), { freq: 3 });
const code = fc.constantFrom("1000", "1100", "2000", "4000");
const amount = fc.oneof(
  fc.bigInt({ min: 1n, max: 1_000n }),
  fc.bigInt({ min: 10n ** 37n, max: 10n ** 38n - 1n }),
);
const metadata = fc.dictionary(
  fc.string(),
  fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true })),
  { maxKeys: 3 },
);

/** Lines in pairs, so that they sum to zero; some of them in another transaction currency. */
const lines = fc
  .array(
    fc.record({ debit: code, credit: code, amount, foreign: fc.option(amount, { freq: 2 }) }),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((pairs) =>
    pairs.flatMap(({ debit, credit, amount: value, foreign }) => [
      {
        glAccountCode: debit,
        functionalAmount: String(value),
        ...(foreign === null
          ? {}
          : { transactionAmount: String(foreign), transactionCurrency: "EUR", spotRate: 1.0845 }),
      },
      { glAccountCode: credit, functionalAmount: String(-value) },
    ]),
  );

const fault = fc.option(fc.constantFrom("unbalanced", "unknown", "inactive", "currency", "zero"), {
  freq: 4,
});

const posting = fc.record({
  kind: fc.constant("entry" as const),
  fault,
  body: fc.record({ externalId, lines, metadata, description: fc.option(fc.constant("x")) }),
});
const reversal = fc.record({
  kind: fc.constant("reversal" as const),
  of: fc.nat(),
  externalId,
});
const clients = fc.array(
  fc.array(fc.oneof({ arbitrary: posting, weight: 3 }, { arbitrary: reversal, weight: 1 }), {
    minLength: 1,
    maxLength: 12,
  }),
  { minLength: 2, maxLength: 8 },
);

type Write =
  typeof posting extends fc.Arbitrary<infer P>
    ? P | (typeof reversal extends fc.Arbitrary<infer R> ? R : never)
    : never;

/** The body with a fault of the kind in its first line. */
function spoil({ body, fault: kind }: Extract<Write, { kind: "entry" }>): unknown {
  const [first, ...rest] = body.lines;
  const changes = {
    unbalanced: { functionalAmount: "7777" },
    unknown: { glAccountCode: "7777" },
    inactive: { glAccountCode: "9000" },
    currency: { functionalCurrency: "CHF", transactionCurrency: "CHF", transactionAmount: null },
    zero: { functionalAmount: "0" },
  };
  return kind === null ? body : { ...body, lines: [{ ...first, ...changes[kind] }, ...rest] };
}

interface Told {
  readonly write: Write;
  readonly sent: unknown;
  readonly target: string;
  readonly reply: Reply;
}

/** Runs one client's writes one after the other; reversals pick from what it has been told of so far. */
async function runClient(
  service: TestService,
  ledgerId: string,
  writes: readonly Write[],
): Promise<Told[]> {
  const path = entriesPath(ledgerId);
  const posted: string[] = [];
  const told: Told[] = [];
  for (const write of writes) {
    const id =
      write.kind === "entry" ? "" : (posted[write.of % Math.max(posted.length, 1)] ?? "none");
    const target = write.kind === "entry" ? path : `${path}/${id}/reversal`;
    const sent = write.kind === "entry" ? spoil(write) : { externalId: write.externalId };
    const reply = await service.post(target, sent);
    const { journalId } = reply.body as { journalId?: string };
    if (journalId !== undefined) posted.push(journalId);
    told.push({ write, sent, target: id, reply });
  }
  return told;
}

async function readJournal(ledgerId: string): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = [];
  for (;;) {
    const after = entries.at(-1)?.sequence ?? 0;
    const reply = await (services[0] as TestService).get(
      `${entriesPath(ledgerId)}?limit=100&after=${after}`,
    );
    const page = reply.body as ReadPage;
    entries.push(...page.entries);
    if (!page.hasMore) {
      expect(entries).toHaveLength(page.total);
      return entries;
    }
  }
}

/** That a reply says of the books what is in them. */
function expectTrue(
  { write, sent, target, reply }: Told,
  journal: ReadonlyMap<string, ReadEntry>,
): void {
  const body = reply.body as Problem;
  const named = journal.get(body.journalId ?? "");
  if (reply.status === 201) {
    expect(body).toEqual({ journalId: named?.journalId, persistedAt: named?.persistedAt });
    if (write.kind === "entry") {
      expect(write.fault).toBeNull();
      expect(named).toMatchObject(JSON.parse(JSON.stringify(sent)) as object);
    } else {
      expect(named).toMatchObject({ entryType: "REVERSAL", reversesJournalId: target });
    }
    return;
  }
  switch (body.code) {
    case "DUPLICATE_ENTRY":
      expect(named?.externalId).toBe((sent as { externalId: string }).externalId);
      expect(named?.persistedAt).toBe(body.persistedAt);
      break;
    case "ALREADY_REVERSED":
      expect(journal.get(target)?.reversedByJournalId).toBe(body.reversalJournalId);
      break;
    case "REVERSAL_NOT_REVERSIBLE":
      expect(journal.get(target)?.entryType).toBe("REVERSAL");
      break;
    case "ENTRY_NOT_FOUND":
      expect(target).toBe("none");
      break;
    case "VALIDATION_ERROR":
      expect(write.kind === "entry" && write.fault !== null).toBe(true);
      break;
    default:
      throw new Error(`not to be expected: ${reply.text}`);
  }
}

/** Rows in which the balances differ from the sums of lines, recomputed by the database. */
async function balanceDifferences(ledgerId: string): Promise<readonly unknown[]> {
  const row = z.object({ code: z.string(), currency: z.string() });
  return books.pool.any(sql.type(row)`
    WITH recomputed AS (
      SELECT gl_account_code, '' AS currency, sum(functional_amount) AS balance,
             count(DISTINCT sequence) AS entry_count
        FROM journal_lines WHERE ledger_id = ${ledgerId} GROUP BY 1
      UNION ALL
      SELECT gl_account_code, transaction_currency, sum(transaction_amount), count(DISTINCT sequence)
        FROM journal_lines WHERE ledger_id = ${ledgerId} GROUP BY 1, 2
    ), held AS (
      SELECT gl_account_code, currency, balance, entry_count
        FROM account_balances WHERE ledger_id = ${ledgerId}
    )
    SELECT gl_account_code AS code, currency FROM (
      (TABLE recomputed EXCEPT TABLE held) UNION ALL (TABLE held EXCEPT TABLE recomputed)
    ) AS differences`);
}

function expectReversals(
  entries: readonly ReadEntry[],
  journal: ReadonlyMap<string, ReadEntry>,
): void {
  for (const entry of entries) {
    if (entry.reversesJournalId === null) continue;
    const original = journal.get(entry.reversesJournalId);
    expect(original?.reversedByJournalId).toBe(entry.journalId);
    expect(entry.transactionDate).toBe(original?.transactionDate);
    expect(entry.lines).toEqual(
      original?.lines.map((line) => ({
        ...line,
        transactionAmount: String(-BigInt(String(line["transactionAmount"]))),
        functionalAmount: String(-BigInt(String(line["functionalAmount"]))),
      })),
    );
  }
  const reversed = entries.filter(({ reversedByJournalId }) => reversedByJournalId !== null);
  expect(reversed).toHaveLength(
    entries.filter(({ reversesJournalId }) => reversesJournalId !== null).length,
  );
}

test("concurrent writes leave books that add up, and replies that are true", async () => {
  await fc.assert(
    fc.asyncProperty(clients, async (streams) => {
      const ledgerId = await books.createLedger();
      const told = (
        await Promise.all(
          streams.map((writes, index) =>
            runClient(services[index % services.length] as TestService, ledgerId, writes),
          ),
        )
      ).flat();
      const entries = await readJournal(ledgerId);
      const journal = new Map(entries.map((entry) => [entry.journalId, entry]));
      expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
      const times = entries.map(({ persistedAt }) => persistedAt);
      expect(times).toEqual([...times].sort());
      const ids = entries.flatMap((entry) => entry.externalId ?? []);
      expect(new Set(ids).size).toBe(ids.length);
      expect(entries).toHaveLength(told.filter(({ reply }) => reply.status === 201).length);
      for (const each of told) expectTrue(each, journal);
      for (const { lines: stored } of entries) {
        const sum = stored.reduce(
          (total, line) => total + BigInt(String(line["functionalAmount"])),
          0n,
        );
        expect(sum).toBe(0n);
      }
      expectReversals(entries, journal);
      expect(await balanceDifferences(ledgerId)).toEqual([]);
      const rows = await books.pool.any(sql.type(z.object({ leaf: z.string() }))`
        SELECT encode(leaf, 'hex') AS leaf FROM journal_entries
         WHERE ledger_id = ${ledgerId} ORDER BY sequence`);
      expect(rows.map(({ leaf }) => leaf)).toEqual(
        entries.map((entry) => leafOf(entry as unknown as LeafDocument)),
      );
    }),
    { numRuns: 30 },
  );
});
