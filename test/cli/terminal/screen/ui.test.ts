// The screen for the books: the tree of accounts, registers read backwards, what keys do, and what is drawn of it.
import { renderToString } from "ink";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import {
  accountTree,
  treeRows,
  type AccountFigures,
} from "../../../../src/cli/commands/ui/account-tree.ts";
import { BackwardRegister } from "../../../../src/cli/commands/ui/backward-register.ts";
import { wrapped } from "../../../../src/cli/commands/ui/detail-rows.ts";
import { majorText } from "../../../../src/cli/terminal/amounts.ts";
import { pressKey } from "../../../../src/cli/commands/ui/ui-keys.ts";
import { rowsOf } from "../../../../src/cli/commands/ui/ui-rows.ts";
import {
  changeUi,
  foundLines,
  listStart,
  startUi,
  type UiState,
} from "../../../../src/cli/commands/ui/ui-state.ts";
import { listHeight, UiView } from "../../../../src/cli/commands/ui/ui-view.tsx";
import { wantsOf } from "../../../../src/cli/commands/ui/ui-wants.ts";
import { displayWidth } from "../../../../src/cli/terminal/fit-columns.ts";
import type {
  Close,
  Ledger,
  Register,
  RegisterLine,
} from "../../../../src/client/ledger-client.ts";

const ledger: Ledger = {
  id: "01a1f91e-6efc-74d1-972e-e3431de388e3",
  name: "Main",
  status: "active",
  createdAt: "2026-01-01T00:00:00.000Z",
  metadata: {},
  functionalCurrency: "USD",
};
const exponentOf = () => 2;
const size = { columns: 80, rows: 23 };

function account(
  glAccountCode: string,
  balance = 0n,
  type: string | null = "asset",
  name = `name of ${glAccountCode}`,
): AccountFigures {
  return { glAccountCode, name, type, balance, active: true };
}

function line(transactionDate: string, sequence: number): RegisterLine {
  return {
    journalId: `01a1f91f-48bb-7221-ae70-${String(sequence).padStart(12, "0")}`,
    sequence,
    transactionDate,
    entryType: "STANDARD",
    description: `entry ${sequence}`,
    amount: "-1250",
    balance: String(sequence * 100),
    currency: "USD",
    transactionAmount: "-1250",
    transactionCurrency: "USD",
    counterAccounts: ["4000"],
    externalId: null,
    reversesJournalId: null,
    reversedByJournalId: null,
  };
}

const titles = (accounts: readonly AccountFigures[], search = "", collapsed = new Set<string>()) =>
  treeRows(accountTree(accounts), collapsed, search).map(
    ({ node, depth }) => `${" ".repeat(depth)}${node.title}`,
  );

describe("the tree of accounts", () => {
  test("goes by type, by parts of codes and by the numbers that others begin with", () => {
    const accounts = [
      account("4000", 0n, "income"),
      account("1000"),
      account("11"),
      account("110"),
      account("1105"),
      account("12"),
      account("bank:giro:eur"),
      account("bank:giro"),
      account("bank-old"),
      account("x", 0n, null),
    ];
    expect(titles(accounts)).toEqual([
      "Assets",
      " 1000",
      " 11",
      "  110",
      "   1105",
      " 12",
      " bank",
      "  giro",
      "   eur",
      " bank-old",
      "Income",
      " 4000",
      "Without a type",
      " x",
    ]);
  });

  test("sums what is below, exactly", () => {
    const big = 10n ** 40n;
    const [assets] = accountTree([account("a", 1n), account("a:b", big), account("a:c", -3n)]);
    expect(assets?.total).toBe(big - 2n);
    expect(assets?.children[0]?.total).toBe(big - 2n);
    expect(assets?.children[0]?.account?.balance).toBe(1n);
  });

  test("has each account once, however codes are written", () => {
    const codes = ["a:", ":a", "a::b", "a", "a:b", "::", "1", "10", "1:0", "日本:東京", "é"];
    const rows = treeRows(accountTree(codes.map((code) => account(code))), new Set(), "");
    const found = rows.flatMap(({ node }) => node.account?.glAccountCode ?? []);
    expect(found.sort()).toEqual([...codes].sort());
    expect(new Set(rows.map(({ node }) => node.key)).size).toBe(rows.length);
    for (const { node } of rows) expect(node.title).not.toBe("");
  });

  test("shows what a search finds, below what it is in, whatever is collapsed", () => {
    const accounts = [
      account("bank:giro", 0n, "asset", "Girokonto"),
      account("cash"),
      account("4000", 0n, "income"),
    ];
    const collapsed = new Set(["type:asset"]);
    expect(titles(accounts, "", collapsed)).toEqual(["Assets", "Income", " 4000"]);
    expect(titles(accounts, "GIROK", collapsed)).toEqual(["Assets", " bank", "  giro"]);
    expect(titles(accounts, "nothing")).toEqual([]);
  });
});

describe("a register is read from its newest line backwards", () => {
  const dayMs = 86_400_000;
  const nowMs = Date.parse("2026-06-01T00:00:00Z");

  /** As the service answers: from the oldest on, within bounds, page by page. */
  function service(all: readonly RegisterLine[]) {
    let requests = 0;
    const read = (range: { from?: string; to?: string; cursor?: string; limit: number }) => {
      requests += 1;
      const { from = "", to = "9999", cursor = "0", limit } = range;
      const within = all.filter((one) => one.transactionDate >= from && one.transactionDate < to);
      const start = Number(cursor);
      const lines = within.slice(start, start + limit);
      const nextCursor = start + limit < within.length ? String(start + limit) : null;
      return Promise.resolve({ lines, nextCursor } as unknown as Register);
    };
    return { read, requests: () => requests };
  }

  async function readAll(all: readonly RegisterLine[]): Promise<RegisterLine[]> {
    const register = new BackwardRegister(service(all).read, nowMs);
    const read: RegisterLine[] = [];
    while (!register.isComplete) read.push(...(await register.next()));
    return read;
  }

  const at = (ms: number) => new Date(ms).toISOString();

  test.each([
    ["none", []],
    ["one", [nowMs - 5 * dayMs]],
    ["two that are years apart", [nowMs - 4_000 * dayMs, nowMs - dayMs]],
    ["some of the future", [nowMs - dayMs, nowMs + 400 * dayMs, nowMs + 401 * dayMs]],
    ["many of a minute", Array.from({ length: 950 }, (_, index) => nowMs - 7 * dayMs + index)],
    [
      "a few a day for years",
      Array.from({ length: 3_000 }, (_, index) => nowMs - (3_000 - index) * dayMs * 0.4),
    ],
    ["many of the future", Array.from({ length: 450 }, (_, index) => nowMs + index * 1_000)],
  ])("where there are %s", async (_, times) => {
    const all = times.map((ms, index) => line(at(ms), index + 1));
    expect(await readAll(all)).toEqual([...all].reverse());
  });

  test("the first lines of a long one take few requests", async () => {
    const all = Array.from({ length: 50_000 }, (_, index) =>
      line(at(nowMs - (50_000 - index) * 600_000), index + 1),
    );
    const { read, requests } = service(all);
    const lines = await new BackwardRegister(read, nowMs).next();
    expect(lines[0]).toEqual(all.at(-1));
    expect(requests()).toBeLessThan(8);
  });
});

/** A state with accounts, and what somebody presses. */
function loaded(
  accounts: readonly AccountFigures[] = [account("1000", 125n), account("4000", -125n, "income")],
): UiState {
  const head = changeUi(startUi(ledger), { type: "head", lastSequence: 3, closes: [] });
  return changeUi(head, { type: "accounts", accounts, atSequence: 3 });
}

function press(state: UiState, ...keys: string[]): UiState {
  return keys.reduce(
    (at, key) => pressKey(at, key, rowsOf(at, size.columns, exponentOf), listHeight(size)),
    state,
  );
}

const draw = (state: UiState, columns = 80, rows = 23) =>
  renderToString(
    createElement(UiView, { state, size: { columns, rows }, exponentOf, isColored: false }),
    { columns },
  ).split("\n");

describe("keys", () => {
  test("open an account's register, an entry of it, and lead back", () => {
    const register = press(loaded(), "j", "return");
    expect(register.opened).toMatchObject([
      { kind: "register", account: { glAccountCode: "1000" } },
    ]);
    expect(wantsOf(register, 20)).toEqual([
      { kind: "register", glAccountCode: "1000", isFollowing: false },
    ]);
    const read = changeUi(register, {
      type: "register",
      glAccountCode: "1000",
      lines: [line("2026-03-15T00:00:00.000Z", 2), line("2026-03-14T00:00:00.000Z", 1)],
      isFollowing: false,
      isComplete: true,
      atSequence: 3,
    });
    expect(wantsOf(read, 20)).toEqual([]);
    const entry = press(read, "G", "l");
    expect(entry.opened.at(-1)).toMatchObject({ kind: "entry", entry: null });
    expect(wantsOf(entry, 20)).toMatchObject([{ kind: "entry" }]);
    expect(press(entry, "escape").opened).toHaveLength(1);
    expect(press(entry, "h", "h").opened).toEqual([]);
    expect(press(entry, "2").opened).toEqual([]);
  });

  test("type a search in which q and space are letters, and leave it", () => {
    const typed = press(loaded(), "/", "q", "space", "é", "backspace");
    expect(typed.typed).toBe("q ");
    expect(typed.places.accounts.search).toBe("q ");
    expect(press(typed, "return")).toMatchObject({ typed: null });
    expect(press(typed, "escape").places.accounts.search).toBe("");
    expect(press(typed, "return", "escape").places.accounts.search).toBe("");
    expect(press(loaded(), "/", ...Array.from("x".repeat(300))).typed).toHaveLength(256);
  });

  test("search the journal when it is typed out, and forget answers to what was sought before", () => {
    const typing = press(loaded(), "2", "/", "r");
    expect(typing.places.journal.search).toBe("");
    const sought = press(typing, "return");
    const late = {
      type: "journal",
      entries: [],
      isFollowing: false,
      isComplete: true,
      refusal: null,
      atSequence: 3,
    } as const;
    expect(changeUi(sought, { ...late, search: "" }).journal.atSequence).toBeNull();
    expect(wantsOf(sought, 20)[0]).toEqual({ kind: "journal", isFollowing: false });
    expect(wantsOf(changeUi(sought, { ...late, search: "r" }), 20)).toEqual([]);
  });

  test("fold what is below a row, change panes, and show help until the next key", () => {
    expect(rowsOf(press(loaded(), "space"), 80, exponentOf).rows).toHaveLength(3);
    expect(rowsOf(press(loaded(), "space", "return"), 80, exponentOf).rows).toHaveLength(4);
    expect(press(loaded(), "tab", "tab").pane).toBe("periods");
    expect(press(loaded(), "tab", "tab", "tab").pane).toBe("accounts");
    expect(press(loaded(), "?", "j")).toMatchObject({ isHelpShown: false });
  });

  test("do nothing where there is nothing", () => {
    const empty = loaded([]);
    const keys = ["j", "G", "return", "space", "l", "h", "escape", "pageup", "x", "9", ""];
    expect(press(empty, ...keys).opened).toEqual([]);
  });
});

test("a search in a register finds a text however its accents are written, as in the tree", () => {
  const lines = ["Cafe\u0301", "Tea", null].map((description, index) => ({
    ...line("2026-03-15T00:00:00.000Z", index + 1),
    description,
  }));
  const found = foundLines({ lines, place: { ...listStart, search: "caf\u00c9" } });
  expect(found.map(({ sequence }) => sequence)).toEqual([1]);
});

test("what was chosen in a register stays chosen when a newer line comes", () => {
  const lines = [2, 1].map((sequence) => line("2026-03-15T00:00:00.000Z", sequence));
  const event = {
    type: "register",
    glAccountCode: "1000",
    isFollowing: false,
    isComplete: true,
  } as const;
  const opened = changeUi(press(loaded(), "j", "return"), { ...event, lines, atSequence: 3 });
  const more = [line("2026-03-16T00:00:00.000Z", 3), ...lines];
  const chosen = (state: UiState) => state.opened[0]?.place.scroll.chosen;
  expect(chosen(changeUi(press(opened, "j"), { ...event, lines: more, atSequence: 4 }))).toBe(2);
  expect(chosen(changeUi(opened, { ...event, lines: more, atSequence: 4 }))).toBe(0);
});

describe("the view", () => {
  const odd = [
    account("日本:東京", 10n ** 30n, "asset", "口座".repeat(60)),
    account("e\u0301te\u0301", -5n, "asset", "combining e\u0301"),
    account("evil\u001b[2J", 0n, "asset", "\u0007bell"),
    account("1000", 125n),
  ];

  test("cuts its title between characters", () => {
    const opened = press(loaded([account("party", 0n, "asset", `${"x".repeat(21)}🎉🎉`)]), "j");
    expect(draw(press(opened, "return"))[0]).toMatch(/^party x{21}… {2}/);
  });

  test.each([
    [80, 23],
    [120, 39],
    [40, 9],
  ])("fits %i columns and %i rows, with wide, combining and long texts", (columns, rows) => {
    for (const state of [
      loaded(odd),
      loaded([]),
      press(loaded(odd), "?"),
      press(loaded(odd), "j", "j", "return"),
    ]) {
      const frame = draw(state, columns, rows);
      expect(frame.length).toBeLessThanOrEqual(rows);
      for (const row of frame) expect(displayWidth(row)).toBeLessThanOrEqual(columns);
      expect(frame.join("\n")).not.toContain("\u001b[2J");
    }
  });

  test("shows amounts in major units, the currency once", () => {
    const frame = draw(loaded());
    expect(frame[2]).toMatch(/^ {2}ACCOUNT +BALANCE USD$/);
    expect(frame[3]).toMatch(/^› ▾ Assets +1\.25$/);
    expect(frame[6]).toMatch(/^ {6}4000 name of 4000 +-1\.25$/);
    expect(frame.at(-1)).toContain("q quit");
  });

  test("says that a search is refused, until something else is sought", () => {
    const sought = press(loaded(), "2", "/", "r", "return");
    const answer = {
      type: "journal",
      search: "r",
      entries: [],
      isFollowing: false,
      isComplete: true,
      atSequence: 3,
    } as const;
    const refused = changeUi(sought, { ...answer, refusal: "would search 100001 entries" });
    expect(draw(refused)[0]).toMatch(/^journal {2}the search is refused: would search 100001/);
    expect(wantsOf(refused, 20)).toEqual([]);
    expect(draw(press(refused, "1"))[0]).not.toContain("refused");
    const answered = changeUi(refused, { ...answer, refusal: null });
    expect(draw(answered)[0]).not.toContain("refused");
  });

  test("says that the service is away, and again when it answers", () => {
    const lost = changeUi(loaded(), { type: "fault", fault: "no answer from http://x" });
    expect(draw(lost)[0]).toContain("no answer, trying again");
    const back = changeUi(lost, { type: "head", lastSequence: 3, closes: [] });
    expect(draw(back)[0]).not.toContain("no answer");
  });

  test("draws a part of 10,000 accounts", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => account(`a${index}`, 1n));
    const frame = draw(press(loaded(many), "G"));
    expect(frame[0]).toContain("10001 of 10001");
    expect(frame.filter((row) => row.startsWith("›"))).toHaveLength(1);
  });
});

test("open months are asked for again when a period was closed", () => {
  const months = changeUi(press(loaded(), "3"), { type: "months", months: [], atSequence: 3 });
  const kinds = (state: UiState) => wantsOf(state, 20).map(({ kind }) => kind);
  expect(kinds(months)).toEqual([]);
  const close = { periodId: "2026-01", endsAt: "2026-02-01T00:00:00.000Z" } as Close;
  const closed = changeUi(months, { type: "head", lastSequence: 3, closes: [close] });
  expect(kinds(closed)).toEqual(["months"]);
});

test("amounts are grouped, exact at any size", () => {
  expect(majorText(123_456_789n, 2)).toBe("1,234,567.89");
  expect(majorText("-100000", 2)).toBe("-1,000.00");
  expect(majorText(-123n, 0)).toBe("-123");
  expect(majorText(5n, 3)).toBe("0.005");
  expect(majorText(-(10n ** 38n), 2)).toMatch(/^-1(,000){12}\.00$/);
});

test("texts are wrapped between words, and inside what is longer", () => {
  expect(wrapped("one two three", 8)).toEqual(["one two", "three"]);
  expect(wrapped("0123456789", 4)).toEqual(["0123", "4567", "89"]);
  expect(wrapped("日本語", 4)).toEqual(["日本", "語"]);
  expect(wrapped("", 4)).toEqual([""]);
});
