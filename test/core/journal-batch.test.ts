// What a batch of journal writes decides: entries, refusals and their order.
import { describe, expect, test } from "vitest";
import type { Refusal } from "../../src/core/errors.ts";
import {
  decideJournalBatch,
  type JournalSnapshot,
  type Decision,
  type JournalWrite,
} from "../../src/core/journal-batch.ts";
import type { Entry, EntryDraft, ReversalDraft, StoredEntry } from "../../src/core/journal.ts";
import { ClosedCalendar } from "../../src/core/period.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { entryDraft, line } from "../support/entry-drafts.ts";

const time = (text: string) => text as Timestamp;

const baseSnapshot: JournalSnapshot = {
  ledger: { ledgerId: "ledger", organizationId: "organization", functionalCurrency: "USD" },
  status: "active",
  lastSequence: 7,
  lastPersistedAt: time("2026-01-01T00:00:00.000Z"),
  now: time("2026-01-02T00:00:00.000Z"),
  accounts: new Map([
    ["1000", { active: true }],
    ["4000", { active: true }],
    ["9000", { active: false }],
  ]),
  idempotencyKeys: new Map(),
  originals: new Map(),
  closed: new ClosedCalendar([]),
  walletPostings: new Set(),
};

const draft: EntryDraft = {
  ...entryDraft([line("1000", 5n), line("4000", -5n)]),
  originSystem: "billing",
};

function post(more: Partial<EntryDraft> = {}): JournalWrite {
  return { kind: "entry", draft: { ...draft, ...more } };
}

function reverse(entryId: string | null, more: Partial<ReversalDraft> = {}): JournalWrite {
  const empty = { externalId: null, description: null, metadata: {}, transactionDate: null };
  return { kind: "reversal", draft: { entryId, ...empty, ...more } };
}

function stored(more: Partial<StoredEntry> = {}): StoredEntry {
  return {
    ...draft,
    ledgerId: "ledger",
    journalId: "original",
    sequence: 3,
    transactionDate: time("2025-12-31T00:00:00.000Z"),
    persistedAt: time("2026-01-01T00:00:00.000Z"),
    postingStatus: "POSTED",
    reversesJournalId: null,
    reversedByJournalId: null,
    ...more,
  };
}

function decide(writes: readonly JournalWrite[], more: Partial<JournalSnapshot> = {}): Decision[] {
  let ids = 0;
  return decideJournalBatch({ ...baseSnapshot, ...more }, writes, () => `new-${++ids}`);
}

function accepted(decision: Decision | undefined): Entry {
  const entry = decision !== undefined && "entries" in decision ? decision.entries[0] : undefined;
  if (entry === undefined) throw new Error("it was not accepted");
  return entry;
}

function refused(decision: Decision | undefined): Refusal {
  if (decision === undefined || !("refusal" in decision)) throw new Error("it was not refused");
  return decision.refusal;
}

const originals = (...entries: StoredEntry[]) =>
  new Map(entries.map((entry) => [entry.journalId, entry]));

describe("a batch of journal writes", () => {
  test("numbers what it accepts without gaps, whatever it refuses between", () => {
    const decisions = decide([
      post(),
      post({ lines: [line("no", 1n), line("4000", -1n)] }),
      post(),
    ]);
    expect(accepted(decisions[0]).sequence).toBe(8);
    expect(refused(decisions[1]).problem).toBe("validation");
    expect(accepted(decisions[2]).sequence).toBe(9);
  });

  test("takes the clock for persistedAt, but never goes back behind the last entry", () => {
    const entry = accepted(decide([post()])[0]);
    expect(entry.persistedAt).toBe("2026-01-02T00:00:00.000Z");
    expect(entry.transactionDate).toBe(entry.persistedAt);
    const behind = { now: time("2025-12-01T00:00:00.000Z") };
    expect(accepted(decide([post()], behind)[0]).persistedAt).toBe("2026-01-01T00:00:00.000Z");
    const first = { lastPersistedAt: null, lastSequence: 0 };
    expect(accepted(decide([post()], first)[0])).toMatchObject({
      sequence: 1,
      persistedAt: "2026-01-02T00:00:00.000Z",
    });
  });

  test("refuses a duplicate within the batch, and names the entry that came first", () => {
    const decisions = decide([post({ externalId: "a" }), post({ externalId: "a" })]);
    const first = accepted(decisions[0]);
    expect(refused(decisions[1])).toMatchObject({
      problem: "duplicateEntry",
      members: { journalId: first.journalId, persistedAt: first.persistedAt },
    });
  });

  test("accepts an externalId whose first use was refused", () => {
    const inactive = [line("9000", 1n), line("4000", -1n)];
    const decisions = decide([
      post({ externalId: "a", lines: inactive }),
      post({ externalId: "a" }),
    ]);
    expect(refused(decisions[0]).problem).toBe("validation");
    expect(accepted(decisions[1]).externalId).toBe("a");
  });

  test("shares externalIds between entries and reversals", () => {
    const more = { originals: originals(stored()) };
    const decisions = decide(
      [reverse("original", { externalId: "a" }), post({ externalId: "a" })],
      more,
    );
    expect(refused(decisions[1]).members["journalId"]).toBe(accepted(decisions[0]).journalId);
  });

  test("reverses an entry once", () => {
    const decisions = decide([reverse("original"), reverse("original")], {
      originals: originals(stored()),
    });
    const reversal = accepted(decisions[0]);
    expect(reversal).toMatchObject({
      entryType: "REVERSAL",
      reversesJournalId: "original",
      transactionDate: "2025-12-31T00:00:00.000Z",
      originSystem: null,
      lines: [{ functionalAmount: -5n }, { functionalAmount: 5n }],
    });
    expect(refused(decisions[1])).toMatchObject({
      problem: "alreadyReversed",
      members: { reversalJournalId: reversal.journalId },
    });
  });

  test("reverses entries on accounts that are inactive by now", () => {
    const original = stored({ lines: [line("9000", 1n), line("gone", -1n)] });
    expect(
      accepted(decide([reverse("original")], { originals: originals(original) })[0]),
    ).toBeDefined();
  });

  test("tells every account and currency that is wrong at once", () => {
    const lines = [
      line("no", 1n),
      line("9000", 1n, { functionalCurrency: "EUR", transactionCurrency: "EUR" }),
      line("4000", -2n),
    ];
    expect(refused(decide([post({ lines })])[0]).faults).toMatchObject([
      { path: ["lines", 0, "glAccountCode"] },
      { path: ["lines", 1, "glAccountCode"] },
      { path: ["lines", 1, "functionalCurrency"] },
    ]);
  });
});

describe("the first refusal that applies", () => {
  const idempotencyKeys = new Map([
    ["used", { journalId: "first", persistedAt: time("2026-01-01T00:00:00.000Z") }],
  ]);
  const broken = [line("no", 1n), line("4000", -1n)];
  const reversedAlready = originals(stored({ reversedByJournalId: "other" }));
  const aReversal = originals(stored({ entryType: "REVERSAL", reversesJournalId: "x" }));

  test.each([
    [
      "duplicate before state",
      post({ externalId: "used" }),
      { status: "closed" },
      "duplicateEntry",
    ],
    [
      "duplicate before accounts",
      post({ externalId: "used", lines: broken }),
      {},
      "duplicateEntry",
    ],
    ["state before accounts", post({ lines: broken }), { status: "suspended" }, "ledgerSuspended"],
    [
      "duplicate before already reversed",
      reverse("original", { externalId: "used" }),
      { originals: reversedAlready },
      "duplicateEntry",
    ],
    [
      "already reversed before state",
      reverse("original"),
      { status: "closed", originals: reversedAlready },
      "alreadyReversed",
    ],
    ["state before an unknown entry", reverse("no"), { status: "closed" }, "ledgerClosed"],
    [
      "state before not reversible",
      reverse("original"),
      { status: "suspended", originals: aReversal },
      "ledgerSuspended",
    ],
    [
      "duplicate before an unknown entry",
      reverse(null, { externalId: "used" }),
      {},
      "duplicateEntry",
    ],
    ["an unknown entry", reverse(null), {}, "entryNotFound"],
    [
      "a reversal of a reversal",
      reverse("original"),
      { originals: aReversal },
      "reversalNotReversible",
    ],
  ] satisfies [string, JournalWrite, Partial<JournalSnapshot>, string][])(
    "is %s",
    (_, write, more, problem) => {
      expect(refused(decide([write], { idempotencyKeys, ...more })[0]).problem).toBe(problem);
    },
  );
});
