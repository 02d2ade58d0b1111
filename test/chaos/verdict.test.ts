// The verdict of chaos rounds finds what is lost, doubled, changed or made up.
import { describe, expect, it } from "vitest";
import type { Stored, StoredEntry, StoredMovement } from "./stored.ts";
import { judge, judgeStream } from "./verdict.ts";
import type { Write } from "./writes.ts";

const entry = (sequence: number, externalId: string, amount = "7"): StoredEntry => ({
  sequence,
  externalId,
  journalId: `j-${externalId}`,
  amount,
});

const row = (seq: number, externalId: string, balance: string): StoredMovement => ({
  seq,
  type: "credit",
  amount: "5",
  balance,
  externalId,
  holdId: null,
  transferId: null,
  counterparty: null,
});

/** One side of a transfer of 5 between "hot" and "cold". */
const side = (type: "transfer-out" | "transfer-in", seq: number, balance: string) => ({
  ...row(seq, "t", balance),
  ...{ type, transferId: "transfer", externalId: type === "transfer-out" ? "t" : null },
  counterparty: type === "transfer-out" ? "cold" : "hot",
});
const transferred = (out: StoredMovement[], into: StoredMovement[]): Stored => ({
  ...stored([]),
  walletRows: new Map([
    ["hot", [row(1, "c", "5"), ...out]],
    ["cold", into],
  ]),
});

const write = (kind: Write["kind"], id: string, more: Partial<Write> = {}): Write => ({
  kind,
  target: "",
  body: "",
  ids: [id],
  amount: kind === "entry" ? "7" : "5",
  callerKey: kind === "entry" ? null : "hot",
  answer: { status: 201, body: kind === "entry" ? { journalId: `j-${id}` } : {} },
  isAmbiguous: false,
  ...more,
});

const stored = (entries: StoredEntry[], rows: StoredMovement[] = []): Stored => ({
  entries,
  walletRows: new Map([["hot", rows]]),
  closes: new Map(),
});

const paid = side("transfer-out", 2, "0");
const received = side("transfer-in", 1, "5");
const transferWrites = [write("credit", "c"), write("transfers", "t")];
const duplicate = { status: 409, body: { code: "DUPLICATE_ENTRY", journalId: "j-a" } };
const refused = { status: 422, body: {} };

describe("the verdict of a chaos round", () => {
  it("finds nothing where all is as it was answered", () => {
    const writes = [
      write("entry", "a", { answer: duplicate, isAmbiguous: true }),
      write("credit", "c"),
      write("debit", "d", { answer: refused }),
    ];
    expect(judge(writes, stored([entry(1, "a")], [row(1, "c", "5")]))).toEqual([]);
    expect(judge(transferWrites, transferred([paid], [received]))).toEqual([]);
  });

  it.each<[string, Write[], Stored, RegExp]>([
    ["a lost entry", [write("entry", "a")], stored([]), /stored 0 times instead of 1/],
    [
      "a doubled entry",
      [write("entry", "a")],
      stored([entry(1, "a"), entry(2, "a")]),
      /stored 2 times instead of 1/,
    ],
    ["another amount", [write("entry", "a")], stored([entry(1, "a", "8")]), /another amount/],
    [
      "another journalId",
      [write("entry", "a", { answer: { status: 201, body: { journalId: "j-b" } } })],
      stored([entry(1, "a")]),
      /was answered as j-b/,
    ],
    ["an entry that nobody sent", [], stored([entry(1, "a")]), /stored and not sent/],
    ["a gap in the journal", [write("entry", "a")], stored([entry(2, "a")]), /2 in place 1/],
    [
      "a duplicate of what was certainly not recorded",
      [write("entry", "a", { answer: duplicate })],
      stored([entry(1, "a")]),
      /although every attempt before/,
    ],
    ["no answer", [write("entry", "a", { answer: null })], stored([]), /never answered/],
    ["a lost credit", [write("credit", "c")], stored([]), /stored 0 times instead of 1/],
    [
      "a refused credit that is there",
      [write("debit", "d", { answer: refused })],
      stored([], [{ ...row(1, "d", "-5"), type: "debit" }]),
      /stored 1 times instead of 0/,
    ],
    [
      "a balance that does not follow",
      [write("credit", "c")],
      stored([], [row(1, "c", "6")]),
      /has 6 after seq 1 instead of 5/,
    ],
    ["a lost transfer", transferWrites, transferred([], []), /transfers t: is stored 0 times/],
    [
      "a transfer that only one wallet has",
      transferWrites,
      transferred([paid], []),
      /has the sides transfer-out 5 from hot to cold$/,
    ],
    [
      "another amount on the side that is paid",
      transferWrites,
      transferred([paid], [{ ...received, amount: "6", balance: "6" }]),
      /has the sides transfer-in 6 from hot to cold; transfer-out 5 from hot to cold/,
    ],
    [
      "a transfer that was answered as a duplicate at the first attempt",
      [
        write("credit", "c"),
        write("transfers", "t", {
          answer: { status: 200, body: { results: [{ status: "duplicate" }] } },
        }),
      ],
      transferred([paid], [received]),
      /although every attempt before/,
    ],
    [
      "a close that is not there",
      [write("close", "2026-01", { answer: { status: 201, body: { closeHash: "h" } } })],
      stored([]),
      /not stored as answered/,
    ],
  ])("finds %s", (_, writes, found, message) => {
    expect(judge(writes, found).join("\n")).toMatch(message);
  });

  it("finds a message that a stream left out, and one that it made up", () => {
    const books = stored([], [row(1, "a", "5"), row(2, "b", "10")]);
    const [first, second] = [
      { seq: 1, balance: "5" },
      { seq: 2, balance: "10" },
    ];
    const judged = (...messages: { seq: number; balance: string }[]) =>
      judgeStream({ callerKey: "hot", messages }, books);
    expect(judged(first, second, second)).toEqual([]);
    expect(judged(second)).toHaveLength(1);
    expect(judged(first)).toHaveLength(1);
    expect(judged(first, second, { seq: 3, balance: "11" })).toHaveLength(1);
  });
});
