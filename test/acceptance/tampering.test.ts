// Somebody with every right on the database changes the books behind a close, one thing at a time. The table
// in docs/proofs.md says who sees it, and is held equal to what is found here.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkSource } from "../../src/cli/commands/merkle/check-close.ts";
import { CommandFailure, exitCodes } from "../../src/cli/failure.ts";
import { readEnvironment } from "../../src/config.ts";
import { canonicalJson, entryLeaf } from "../../src/core/canonical.ts";
import { balancesRootOf, closeHashOf, type CloseRecord } from "../../src/core/close.ts";
import type { JsonObject } from "../../src/core/journal.ts";
import { hashLeaf, rootOf } from "../../src/core/merkle.ts";
import type { CloseBalance } from "../../src/contract/types.ts";
import type { AuditReport } from "../../src/audit/audit-log.ts";
import { auditLedgers } from "../../src/audit/audit.ts";
import { findEntry } from "../../src/store/journal-entries.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { checkBundle, type BundleLine } from "../../src/verify/bundle.ts";
import type { CloseVerdict } from "../../src/verify/verdict.ts";
import { balanceRowOf } from "../../src/verify/documents.ts";
import { readTable } from "../docs/markdown-table.ts";
import { runCli } from "../support/cli.ts";
import { isCluster } from "../support/cluster.ts";
import { neverPosting, openEngine, type TestEngine } from "../support/engine.ts";
import { entry, postEntry, reverseEntry } from "../support/entries.ts";
import { readRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";
import { forge, tamper } from "../support/tampering.ts";

const service = serveBooks(neverPosting);
let engine: TestEngine;
let pool: Pool;
let ledgerId: string;
let home: string;
/** What was published, by period. */
const published = new Map<string, string>();

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "ledgerctl-test-"));
  engine = openEngine(service.books.databaseUrl);
  pool = new Pool({
    databaseUrl: service.books.databaseUrl,
    connectionsMax: 2,
    answerTimeoutMs: 60_000,
  });
  ({ ledgerId } = service.books);
  const post = (transactionDate: string, amount: number) =>
    postEntry(service, entry(amount, { transactionDate }));
  await post("2025-12-15T00:00:00Z", 700);
  await post("2026-01-10T00:00:00Z", 110);
  await postEntry(service, labelled);
  const { journalId } = await post("2026-02-10T00:00:00Z", 210);
  await reverseEntry(service, journalId);
  await post("2026-03-05T00:00:00Z", 310);
  for (const period of ["2026-01", "2026-02", "2026-03"]) {
    const { closeHash } = await engine.close(ledgerId, period, { reason: "month's end" });
    published.set(period, closeHash);
  }
  await post("2026-04-05T00:00:00Z", 410);
});

afterAll(async () => {
  await engine.end();
  await pool.end();
  rmSync(home, { recursive: true });
});

/** Sequence 3: has a value in every member. */
const labelled = {
  transactionDate: "2026-02-05T12:00:00Z",
  externalId: "invoice-7",
  originSystem: "shop",
  originAccount: "till",
  eventType: "SALE",
  description: "a sale",
  metadata: { order: 1 },
  lines: [
    {
      glAccountCode: "1000",
      functionalAmount: "108",
      transactionAmount: "100",
      transactionCurrency: "EUR",
      spotRate: 1.08,
      description: "paid",
    },
    { glAccountCode: "4000", functionalAmount: "-108" },
  ],
};

interface Tampering {
  readonly what: string;
  readonly statements: readonly string[];
  /** What else has to be made to agree. */
  readonly then?: () => Promise<void>;
  /** The period that is looked at, where it is not February. */
  readonly period?: string;
}

const wrongHash = "repeat('0', 64)";

/** One change of each column of each table that a close covers. */
const columns: Readonly<Record<string, { where: string; values: Record<string, string> }>> = {
  journal_entries: {
    where: "sequence = 3",
    values: {
      ledger_id: "gen_random_uuid()",
      sequence: "1000",
      journal_id: "gen_random_uuid()",
      external_id: "'other'",
      origin_system: "'other'",
      origin_account: "'other'",
      event_type: "'other'",
      description: "'other'",
      transaction_date: "transaction_date + interval '1 day'",
      entry_type: "'ADJUSTING'",
      metadata: `'{"order": 2}'`,
      persisted_at: "persisted_at + interval '1 millisecond'",
      reverses_journal_id: "gen_random_uuid()",
      leaf: `decode(${wrongHash}, 'hex')`,
    },
  },
  journal_lines: {
    where: "sequence = 3 AND line_number = 0",
    values: {
      ledger_id: "gen_random_uuid()",
      sequence: "1000",
      line_number: "7",
      gl_account_code: "'1100'",
      description: "'other'",
      transaction_amount: "transaction_amount + 1",
      transaction_currency: "'GBP'",
      functional_amount: "functional_amount + 1",
      functional_currency: "'EUR'",
      spot_rate: "1.09",
    },
  },
  period_closes: {
    where: "number = 2",
    values: {
      ledger_id: "gen_random_uuid()",
      number: "9",
      close_id: "gen_random_uuid()",
      period_id: "'other'",
      reason: "'other'",
      starts_at: "starts_at + interval '1 day'",
      ends_at: "ends_at - interval '1 day'",
      closed_at: "closed_at + interval '1 millisecond'",
      last_sequence: "last_sequence - 1",
      entry_count: "entry_count + 1",
      merkle_root: wrongHash,
      merkle_algorithm: "'other'",
      balances_root: wrongHash,
      previous_close_hash: wrongHash,
      close_hash: wrongHash,
    },
  },
  period_close_balances: {
    where: "number = 2 AND gl_account_code = '1000'",
    values: {
      ledger_id: "gen_random_uuid()",
      number: "9",
      gl_account_code: "'2000'",
      opening: "opening + 1",
      debits: "debits + 1",
      credits: "credits - 1",
      closing: "closing + 1",
      entry_count: "entry_count + 1",
    },
  },
  period_close_subtrees: {
    where: "number = 2",
    values: {
      ledger_id: "gen_random_uuid()",
      number: "9",
      part: "1",
      first_sequence: "first_sequence + 1",
      root: `decode(${wrongHash}, 'hex')`,
    },
  },
};

const closeTables = ["period_closes", "period_close_balances", "period_close_subtrees"];

/** Entries and lines of one sequence get another. */
const resequence = (where: string, to: string) =>
  ["journal_entries", "journal_lines"].map(
    (table) => `UPDATE ${table} SET sequence = ${to} WHERE ${where}`,
  );

const copyOf = (table: string, changes: Record<string, string>, where: string) =>
  `INSERT INTO ${table} SELECT (jsonb_populate_record(source, jsonb_build_object(${Object.entries(
    changes,
  )
    .map(([column, value]) => `'${column}', ${value}`)
    .join(", ")}))).* FROM ${table} AS source WHERE ${where}`;

const compound: readonly Tampering[] = [
  {
    what: "the amounts of two lines, so that they still balance",
    statements: [
      "UPDATE journal_lines SET functional_amount = functional_amount * 2 WHERE sequence = 3",
    ],
  },
  {
    what: "a line added",
    statements: [copyOf("journal_lines", { line_number: "2" }, "sequence = 3 AND line_number = 0")],
  },
  {
    what: "two lines added that balance",
    statements: [copyOf("journal_lines", { line_number: "line_number + 2" }, "sequence = 3")],
  },
  {
    what: "a line removed",
    statements: ["DELETE FROM journal_lines WHERE sequence = 3 AND line_number = 1"],
  },
  {
    what: "all lines of an entry removed",
    statements: ["DELETE FROM journal_lines WHERE sequence = 3"],
  },
  {
    what: "two lines swapped",
    statements: [
      "UPDATE journal_lines SET line_number = line_number + 10 WHERE sequence = 3",
      "UPDATE journal_lines SET line_number = 11 - line_number WHERE sequence = 3",
    ],
  },
  {
    what: "an entry removed",
    statements: ["journal_entries", "journal_lines"].map(
      (table) => `DELETE FROM ${table} WHERE sequence = 3`,
    ),
  },
  {
    what: "an entry added between two others",
    statements: [
      ...resequence("sequence > 3", "sequence + 1000"),
      ...resequence("sequence > 1000", "sequence - 999"),
      copyOf(
        "journal_entries",
        { sequence: "4", journal_id: "gen_random_uuid()", external_id: "'copy'" },
        "sequence = 3",
      ),
      copyOf("journal_lines", { sequence: "4" }, "sequence = 3"),
    ],
  },
  {
    what: "two entries in the other order",
    statements: [
      ...resequence("sequence = 3", "1000"),
      ...resequence("sequence = 4", "3"),
      ...resequence("sequence = 1000", "4"),
    ],
  },
  {
    what: "an entry dated out of the period",
    statements: ["UPDATE journal_entries SET transaction_date = '2026-04-01Z' WHERE sequence = 3"],
  },
  {
    what: "an entry of another month dated into the period",
    statements: ["UPDATE journal_entries SET transaction_date = '2026-02-01Z' WHERE sequence = 6"],
  },
  {
    what: "a later entry dated into the period",
    statements: ["UPDATE journal_entries SET transaction_date = '2026-02-01Z' WHERE sequence = 7"],
  },
  {
    what: "a time by less than a millisecond",
    statements: [
      "UPDATE journal_entries SET persisted_at = persisted_at + interval '1 microsecond' WHERE sequence = 3",
    ],
  },
  {
    what: "an amount dated before the period",
    statements: [
      "UPDATE journal_lines SET functional_amount = functional_amount * 2, transaction_amount = transaction_amount * 2 WHERE sequence = 1",
    ],
  },
  {
    what: "a close removed, its record alone",
    statements: ["DELETE FROM period_closes WHERE number = 2"],
  },
  {
    what: "a close removed with all its parts",
    statements: closeTables.map((table) => `DELETE FROM ${table} WHERE number = 2`),
  },
  {
    what: "the last close removed with all its parts",
    statements: closeTables.map((table) => `DELETE FROM ${table} WHERE number = 3`),
    period: "2026-03",
  },
  {
    what: "an amount, with everything that follows from it made anew",
    statements: [
      "UPDATE journal_lines SET functional_amount = functional_amount * 2 WHERE sequence = 3",
      ...closeTables.map((table) => `DELETE FROM ${table} WHERE number > 1`),
    ],
    then: makeAnew,
  },
  {
    what: "a running balance",
    statements: ["UPDATE account_balances SET balance = balance + 1"],
  },
  {
    what: "the amounts of a reversal, so that they still balance",
    statements: [
      "UPDATE journal_lines SET functional_amount = functional_amount * 2 WHERE sequence = 5",
    ],
  },
  { what: "which entry is reversed", statements: ["DELETE FROM journal_reversals"] },
  {
    what: "the journal's last sequence",
    statements: ["UPDATE journal_heads SET last_sequence = 9 WHERE last_sequence > 0"],
  },
];

const tamperings: readonly Tampering[] = [
  ...Object.entries(columns).flatMap(([table, { where, values }]) =>
    Object.entries(values).map(([column, value]) => ({
      what: `\`${table}.${column}\``,
      statements: [`UPDATE ${table} SET ${column} = ${value} WHERE ${where}`],
    })),
  ),
  ...compound,
];

/** What a forger does who knows the format: leaves, balances and closes agree with the changed lines. */
async function makeAnew(): Promise<void> {
  const [row] = await readRows(
    service,
    "SELECT journal_id FROM journal_entries WHERE sequence = 3",
  );
  const forged = await findEntry(pool, ledgerId, String(row?.["journal_id"]));
  if (forged === null) throw new Error("the entry is there");
  await forge(
    service.books,
    `UPDATE journal_entries SET leaf = decode('${entryLeaf(forged).toString("hex")}', 'hex') WHERE sequence = 3`,
    `UPDATE account_balances AS stored SET balance = (
       SELECT sum(functional_amount) FROM journal_lines AS lines
        WHERE lines.ledger_id = stored.ledger_id AND lines.gl_account_code = stored.gl_account_code)
      WHERE currency = ''`,
    `UPDATE account_balances AS stored SET balance = (
       SELECT sum(transaction_amount) FROM journal_lines AS lines
        WHERE lines.ledger_id = stored.ledger_id AND lines.gl_account_code = stored.gl_account_code
          AND lines.transaction_currency = stored.currency)
      WHERE currency <> ''`,
  );
  const another = openEngine(service.books.databaseUrl);
  for (const period of ["2026-02", "2026-03"]) {
    await another.close(ledgerId, period, { reason: "month's end" });
  }
  await another.end();
}

const nothing = "–";

async function seenByAudit(): Promise<string> {
  const report = await pool.snapshot((reads) => auditLedgers(reads, null));
  const failed = (report as AuditReport).checks.filter(({ ok }) => !ok);
  for (const { findings } of failed) expect(findings.length).toBeGreaterThan(0);
  return failed.map(({ name }) => name).join(", ") || nothing;
}

/** What a verdict names: entries, accounts, the close. */
function seenIn({ ok, anchored, findings }: CloseVerdict): string {
  expect(ok).toBe(findings.length === 0);
  // With the published figure at hand, what is not found out is verified: there is nothing between.
  expect(anchored).toBe(ok);
  const sorts = findings.map(({ where }) => where.split(" ")[0] ?? "");
  return ok ? nothing : [...new Set(sorts)].sort().join(", ");
}

async function seenOnline(period: string): Promise<string> {
  const { apiKey, apiSecret } = service.books.credentials;
  const environment = readEnvironment({
    HOME: home,
    LEDGERCTL_URL: `http://127.0.0.1:${service.port}`,
    LEDGERCTL_API_KEY: apiKey,
    LEDGERCTL_API_SECRET: apiSecret,
    LEDGERCTL_LEDGER: ledgerId,
  });
  try {
    return seenIn(await checkSource({ period }, environment, published.get(period) ?? ""));
  } catch (error) {
    if (error instanceof CommandFailure && error.exitCode === exitCodes.notFound) return "no close";
    throw error;
  }
}

/** The bundle that the service gives out now, or null where the period has no close. */
async function fetchBundle(period: string): Promise<string | null> {
  const closesPath = `/v1/ledgers/${ledgerId}/period-closes`;
  const { closes } = (await service.get(closesPath)).body as {
    closes: { periodId: string; closeId: string }[];
  };
  const close = closes.find(({ periodId }) => periodId === period);
  if (close === undefined) return null;
  return (await service.get(`${closesPath}/${close.closeId}/bundle`)).text;
}

const checkText = (text: string, expected: string | null) => checkBundle(linesOf(text), expected);

async function* linesOf(text: string): AsyncGenerator<BundleLine[]> {
  yield text
    .trimEnd()
    .split("\n")
    .map((line) => ({ text: line, isEnded: true }));
}

async function seenInBundle(period: string): Promise<string> {
  const bundle = await fetchBundle(period);
  if (bundle === null) return "no close";
  return seenIn(await checkText(bundle, published.get(period) ?? ""));
}

const page = readFileSync(new URL("../../docs/proofs.md", import.meta.url), "utf8");
const headings = ["changed", "`audit`", "`merkle verify --period`", "`merkle verify --bundle`"];

describe("tampering", () => {
  it("is tried on each column of each table that a close covers", async () => {
    const rows = await readRows(
      service,
      `SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name = ANY ($1)`,
      [Object.keys(columns)],
    );
    const names = rows.map((row) => `${String(row["table_name"])}.${String(row["column_name"])}`);
    const tried = Object.entries(columns).flatMap(([table, { values }]) =>
      Object.keys(values).map((column) => `${table}.${column}`),
    );
    expect(tried.sort()).toEqual(names.sort());
  });

  // What is changed here are rows of one server: Citus moves none to another ledger, nor calculates values by row.
  it.skipIf(isCluster)(
    "is seen as docs/proofs.md says, and by somebody always",
    async () => {
      const untouched = [
        await seenByAudit(),
        await seenOnline("2026-02"),
        await seenInBundle("2026-02"),
      ];
      expect(untouched).toEqual([nothing, nothing, nothing]);
      const found: string[][] = [];
      for (const { what, statements, then, period = "2026-02" } of tamperings) {
        const undo = await tamper(service.books, ...statements);
        try {
          await then?.();
          const seen = [await seenByAudit(), await seenOnline(period), await seenInBundle(period)];
          expect(seen, what).not.toEqual([nothing, nothing, nothing]);
          found.push([what, ...seen]);
        } finally {
          await undo();
        }
      }
      expect(found).toEqual(readTable(page, headings));
    },
    300_000,
  );
});

/** The lines of a bundle with an amount changed and everything in the file made to agree with it. */
function rewriteBundle(bundle: string): { text: string; closeHash: string } {
  const lines = bundle
    .trimEnd()
    .replaceAll('"108"', '"109"')
    .replaceAll('"-108"', '"-109"')
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, JsonObject>);
  const of = (kind: string) => lines.flatMap((line) => line[kind] ?? []);
  const rows = of("account").map((row) => {
    const read = balanceRowOf(row as unknown as CloseBalance);
    const more =
      read.glAccountCode === "1000" ? { debits: read.debits + 1n } : { credits: read.credits - 1n };
    const changed = { ...read, ...more };
    return { ...changed, closing: changed.opening + changed.debits + changed.credits };
  });
  const entries = of("entry");
  const unsigned = {
    ...(of("close")[0] as unknown as CloseRecord),
    merkleRoot: rootOf(entries.map((each) => hashLeaf(canonicalJson(each)))).toString("hex"),
    balancesRoot: balancesRootOf(rows).toString("hex"),
  };
  const closeHash = closeHashOf(unsigned).toString("hex");
  const text = [
    { kind: "close", format: "ledgerctl-bundle-v1", close: { ...unsigned, closeHash } },
    ...rows.map((row) => ({
      kind: "account",
      account: {
        ...row,
        ...{ opening: String(row.opening), debits: String(row.debits) },
        ...{ credits: String(row.credits), closing: String(row.closing) },
      },
    })),
    ...entries.map((each) => ({ kind: "entry", entry: each })),
    { kind: "trailer", accounts: rows.length, entries: entries.length },
  ];
  return { text: text.map((line) => `${JSON.stringify(line)}\n`).join(""), closeHash };
}

describe("a bundle that was rewritten to agree with itself", () => {
  it("is consistent and NOT anchored, and with what was published exit code 3", async () => {
    const { text, closeHash } = rewriteBundle((await fetchBundle("2026-02")) ?? "");
    const file = join(home, "rewritten.ndjson");
    writeFileSync(file, text);
    const verify = ["merkle", "verify", "--bundle", file];
    const free = await runCli(verify, { env: { HOME: home } });
    expect(free, free.stdout).toMatchObject({ code: 0 });
    expect(free.stdout).toContain("consistent, NOT anchored");
    expect(free.stdout).not.toContain("verified");
    expect(closeHash).not.toBe(published.get("2026-02"));
    const expected = published.get("2026-02") ?? "";
    const anchored = await runCli([...verify, "--expect", expected], { env: { HOME: home } });
    expect(anchored).toMatchObject({ code: 3 });
    expect(anchored.stdout).toContain(`${expected} was expected`);
    expect(anchored.stdout).not.toContain("verified");
  });
});

describe("audit", () => {
  const audit = (...args: string[]) =>
    runCli(["audit", "--database-url", service.books.databaseUrl, ...args], {
      env: { HOME: home },
    });

  it("ends with 0 on sound books, and with 5 for a ledger that is not there", async () => {
    const sound = await audit("--json");
    expect(sound, sound.stdout).toMatchObject({ code: 0, stderr: "" });
    const report = JSON.parse(sound.stdout) as AuditReport;
    expect(report).toMatchObject({ ok: true, notes: [] });
    for (const check of report.checks) expect(check).toMatchObject({ ok: true, findings: [] });
    expect((await audit("--ledger", ledgerId)).stdout).toContain("Everything matches");
    expect((await audit("--ledger", crypto.randomUUID())).code).toBe(5);
    expect((await audit("--ledger", "x")).code).toBe(5);
  });

  it.skipIf(isCluster)("ends with 3 and names what does not match", async () => {
    const undo = await tamper(
      service.books,
      "UPDATE journal_lines SET functional_amount = functional_amount + 1 WHERE sequence = 3 AND line_number = 0",
    );
    const found = await audit();
    const quoted = JSON.parse((await audit("--json")).stdout) as AuditReport;
    await undo();
    expect(found.code).toBe(3);
    expect(found.stdout).toMatch(
      /^MISMATCH {2}lines: entry \S+ \(sequence 3\) its lines sum to 1$/m,
    );
    expect(found.stdout).toMatch(
      /^MISMATCH {2}balances: account "1000" has the balance 1638, its lines sum to 1639$/m,
    );
    expect(found.stdout).toContain("FAILED");
    expect(found.stdout).not.toContain("Everything matches");
    expect(quoted.ok).toBe(false);
  });

  it.skipIf(isCluster)("that can't go on says nothing of books that match", async () => {
    const tables = [
      ["wallet_writes", "RENAME TO moved", "ALTER TABLE moved RENAME TO wallet_writes"],
      [
        "journal_entries",
        "RENAME COLUMN leaf TO moved",
        "ALTER TABLE journal_entries RENAME COLUMN moved TO leaf",
      ],
    ] as const;
    for (const [table, change, back] of tables) {
      await readRows(service, `ALTER TABLE ${table} ${change}`);
      const broken = await audit();
      await readRows(service, back);
      expect([0, 3]).not.toContain(broken.code);
      expect(broken.stdout).toBe("");
    }
    const undo = await tamper(
      service.books,
      "UPDATE journal_entries SET transaction_date = 'infinity' WHERE sequence = 3",
    );
    const unreadable = await audit();
    const online = await seenOnline("2026-02").catch(() => "no answer");
    await undo();
    expect([0, 3]).not.toContain(unreadable.code);
    expect(unreadable.stdout).toBe("");
    expect(online).toBe("no answer");
  });
});
