// Close records and trial balances against vectors: each is recomputed from entries alone.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, entryLeaf } from "../../src/core/canonical.ts";
import {
  balancesRootOf,
  closeHashOf,
  isBalanced,
  movedBalances,
  totalsOf,
  TrialBalance,
  type BalanceRow,
  type CloseRecord,
} from "../../src/core/close.ts";
import type { Entry, Line } from "../../src/core/journal.ts";
import { rootOf } from "../../src/core/merkle.ts";
import { holds } from "../../src/core/period.ts";

type Wire<Item> = { [Key in keyof Item]: Item[Key] extends bigint ? string : Item[Key] };

interface Vectors {
  readonly entries: readonly (Omit<Entry, "lines"> & { lines: readonly Wire<Line>[] })[];
  readonly closes: readonly {
    readonly record: CloseRecord;
    readonly balances: readonly Record<string, string | number>[];
  }[];
}

const vectors = JSON.parse(
  readFileSync(new URL("../vectors/close.json", import.meta.url), "utf8"),
) as Vectors;

const entries: Entry[] = vectors.entries.map((entry) => ({
  ...entry,
  lines: entry.lines.map((line) => ({
    ...line,
    transactionAmount: BigInt(line.transactionAmount),
    functionalAmount: BigInt(line.functionalAmount),
  })),
}));

describe.each(vectors.closes)("close $record.periodId", ({ record, balances }) => {
  const covered = entries.filter(({ sequence }) => sequence <= record.lastSequence);
  const inPeriod = covered.filter(({ transactionDate }) => holds(record, transactionDate));

  test("has the root of its entries", () => {
    expect(inPeriod).toHaveLength(record.entryCount);
    expect(rootOf(inPeriod.map(entryLeaf)).toString("hex")).toBe(record.merkleRoot);
  });

  test("has the trial balance of its entries", () => {
    const trialBalance = new TrialBalance();
    const { startsAt } = record;
    for (const { transactionDate, lines } of covered) {
      if (startsAt !== null && transactionDate < startsAt) trialBalance.addOpening(lines);
      else if (transactionDate < record.endsAt) trialBalance.addEntry(lines);
    }
    const rows = trialBalance.rows();
    expect(
      rows.map((row) => ({
        ...row,
        opening: `${row.opening}`,
        debits: `${row.debits}`,
        credits: `${row.credits}`,
        closing: `${row.closing}`,
      })),
    ).toEqual(balances);
    expect(balancesRootOf(rows).toString("hex")).toBe(record.balancesRoot);
  });

  test("has its own hash, and another when anything of it changes", () => {
    expect(closeHashOf(record).toString("hex")).toBe(record.closeHash);
    const changes: Partial<CloseRecord>[] = [
      { balancesRoot: record.merkleRoot === record.balancesRoot ? "00" : record.merkleRoot },
      { closeId: `${record.closeId}0` },
      { reason: "another" },
      { number: record.number + 1 },
      { entryCount: record.entryCount + 1 },
      { lastSequence: record.lastSequence + 1 },
      { startsAt: null },
      {
        endsAt:
          record.closedAt === record.endsAt
            ? (entries[0]?.transactionDate ?? record.endsAt)
            : record.closedAt,
      },
      { merkleAlgorithm: "another" },
      { previousCloseHash: record.closeHash },
      { periodId: `${record.periodId} ` },
    ];
    for (const change of changes) {
      expect(closeHashOf({ ...record, ...change }).toString("hex")).not.toBe(record.closeHash);
    }
  });
});

test("the leaf of a row is the hash of its canonical form, whatever its account is called", () => {
  const amount = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
  const anyRow = fc.record({
    glAccountCode: fc.string({ unit: "binary", minLength: 1 }),
    ...{ opening: amount, debits: amount, credits: amount, closing: amount },
    entryCount: fc.nat(),
  });
  fc.assert(
    fc.property(anyRow, (row) => {
      const document = Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          typeof value === "bigint" ? value.toString() : value,
        ]),
      );
      const canonical = Buffer.from(`\0${canonicalJson(document)}`);
      expect(balancesRootOf([row])).toEqual(createHash("sha256").update(canonical).digest());
    }),
  );
});

test("rows that were summed in parts come to the same trial balance", () => {
  const whole = new TrialBalance();
  const first = new TrialBalance();
  const second = new TrialBalance();
  entries.forEach(({ lines }, index) => {
    whole.addEntry(lines);
    (index % 2 === 0 ? first : second).addEntry(lines);
  });
  first.addRows(second.rows());
  expect(first.rows()).toEqual(whole.rows());
  expect(new TrialBalance(whole.rows()).rows()).toEqual(whole.rows());
});

describe("rows against those that a close stored", () => {
  const row = (glAccountCode: string, opening: bigint, debits = 0n): BalanceRow => ({
    ...{ glAccountCode, opening, debits, credits: 0n, closing: opening + debits, entryCount: 0 },
  });

  test("differ where any figure does, and where one of them has no such account", () => {
    const same = row("b", 5n);
    const moved = movedBalances(
      [row("a", 1n), same, row("c", 1n, 1n), row("gone", 2n)],
      [row("a", 1n, 1n), same, { ...row("c", 1n, 1n), entryCount: 1 }, row("new", 3n)],
    );
    expect(
      moved.map(({ stored, live }) => [live.glAccountCode, stored.closing, live.closing]),
    ).toEqual([
      ["a", 1n, 2n],
      ["c", 2n, 2n],
      ["gone", 2n, 0n],
      ["new", 0n, 3n],
    ]);
  });

  test("balance only where openings, movements and closings each come to zero", () => {
    expect(isBalanced(totalsOf([]))).toBe(true);
    const even = [row("a", 5n, 2n), { ...row("b", -5n), credits: -2n, closing: -7n }];
    expect(isBalanced(totalsOf(even))).toBe(true);
    for (const change of [{ opening: -4n }, { credits: -1n }, { closing: -8n }]) {
      const [first, second] = even;
      expect(isBalanced(totalsOf([first, { ...second, ...change }] as BalanceRow[]))).toBe(false);
    }
  });
});
