// The screen of `wallet tail`: its state as messages and keys come, and what is drawn of a state.
import { renderToString } from "ink";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import {
  changeTail,
  heldOf,
  shownWallets,
  startTail,
  totalRate,
  type TailState,
} from "../../../../src/cli/commands/wallet/tail-state.ts";
import type { WalletUnit } from "../../../../src/cli/commands/wallet/wallet-asset.ts";
import { TailView, walletRows } from "../../../../src/cli/commands/wallet/tail-view.tsx";

const startMs = 1_700_000_000_000;
const none = { balance: "0", available: "0" };

function start(...keys: string[]): TailState {
  return startTail(keys.map((key) => ({ key, ...none })));
}

/** The state after messages of [index, seq, balance, available], one each 100 ms. */
function after(state: TailState, ...messages: [number, number, string, string][]): TailState {
  return messages.reduce(
    (all, [index, seq, balance, available], count) =>
      changeTail(
        all,
        { type: "message", index, message: { balance, available, seq, isPosting: false } },
        startMs + count * 100,
      ),
    state,
  );
}

function press(state: TailState, ...keys: string[]): TailState {
  return keys.reduce(
    (all, key) => changeTail(all, { type: "key", key, height: 5 }, startMs + 1_000),
    state,
  );
}

const orderOf = (state: TailState) => shownWallets(state, startMs).wallets.map(({ key }) => key);

describe("messages", () => {
  test("change figures, and tell what they did to balance and holds", () => {
    const state = after(
      start("a", "b"),
      [0, 1, "100", "100"],
      [0, 2, "100", "70"],
      [0, 3, "80", "80"],
    );
    const [a, b] = state.wallets;
    expect(a).toMatchObject({ balance: 80n, available: 80n, seq: 3 });
    expect(a?.changes.map(({ seq, balance, held }) => [seq, balance, held])).toEqual([
      [3, -20n, -30n],
      [2, 0n, 30n],
      [1, 100n, 0n],
    ]);
    expect(b).toEqual(start("a", "b").wallets[1]);
  });

  test("of a posting change nothing, also before the first write", () => {
    const message = { balance: "10", available: "10", seq: 4, isPosting: true };
    for (const before of [start("a"), after(start("a"), [0, 4, "10", "10"])]) {
      const state = changeTail(before, { type: "message", index: 0, message }, startMs + 900);
      expect(state.wallets[0]).toEqual({ ...before.wallets[0], lastPostedAtMs: startMs + 900 });
    }
  });

  test("stay exact beyond what a double holds", () => {
    const long = "123456789012345678901234567890";
    const [wallet] = after(start("a"), [0, 1, long, long]).wallets;
    expect(wallet?.changes[0]?.balance).toBe(BigInt(long));
    expect(heldOf({ balance: BigInt(long), available: 1n })).toBe(BigInt(long) - 1n);
  });

  test("win over figures that were asked for, which hold until the first of them", () => {
    const figures = { balance: "40", available: "30" };
    const asked = changeTail(start("a"), { type: "figures", index: 0, figures }, startMs);
    expect(asked.wallets[0]).toMatchObject({
      balance: 40n,
      available: 30n,
      seq: null,
      changes: [],
    });
    const told = after(asked, [0, 3, "45", "35"]);
    expect(told.wallets[0]?.changes[0]).toMatchObject({ balance: 5n, held: 0n });
    expect(changeTail(told, { type: "figures", index: 0, figures }, startMs)).toEqual(told);
  });

  test("of an index that is not there are left alone", () => {
    const state = start("a");
    expect(after(state, [7, 1, "1", "1"])).toBe(state);
  });

  test("add up to a rate over all wallets", () => {
    const state = after(start("a", "b"), [0, 1, "1", "1"], [1, 1, "1", "1"], [1, 2, "2", "2"]);
    expect(totalRate(state.wallets, startMs + 1_000)).toBeCloseTo(3 / 5);
  });
});

describe("keys", () => {
  const state = after(
    start("c", "a", "b"),
    [2, 1, "500", "500"],
    [0, 1, "20", "5"],
    [0, 2, "30", "15"],
  );

  test("s goes through the orders and comes round, S goes back, r turns them", () => {
    const orders = [0, 1, 2, 3, 4, 5, 6].map((count) =>
      orderOf(press(state, ...Array.from({ length: count }, () => "s"))).join(""),
    );
    expect(orders).toEqual(["cab", "abc", "bca", "cab", "cab", "cba", "cab"]);
    expect(press(state, "s", "S").sort).toBe("as given");
    expect(press(state, "S").sort).toBe("last change");
    expect(orderOf(press(state, "s", "r"))).toEqual(["c", "b", "a"]);
  });

  test("p keeps what is shown while messages go on, and lets it go again", () => {
    const paused = press(state, "p");
    const later = after(paused, [1, 9, "7", "7"]);
    expect(shownWallets(later, startMs + 9_000)).toMatchObject({
      atMs: startMs + 1_000,
      wallets: state.wallets,
    });
    expect(later.wallets[1]?.balance).toBe(7n);
    expect(shownWallets(press(later, "space"), startMs).wallets[1]?.balance).toBe(7n);
  });

  test("d and return switch the detail; what has no meaning changes nothing", () => {
    expect(press(state, "d").isDetailed).toBe(true);
    expect(press(state, "d", "return").isDetailed).toBe(false);
    expect(press(state, "x")).toBe(state);
  });
});

describe("the view", () => {
  const draw = (
    state: TailState,
    columns = 110,
    rows = 12,
    isColored = false,
    unitOf: (key: string) => WalletUnit | null = () => null,
  ) =>
    renderToString(
      createElement(TailView, {
        state,
        nowMs: startMs + 1_000,
        size: { columns, rows },
        unitOf,
        isColored,
      }),
      { columns },
    ).split("\n");

  const many = start(...Array.from({ length: 30 }, (_, index) => `wallet-${index + 1}`));

  test("shows figures of each wallet in a row", () => {
    const state = changeTail(
      after(start("alice", "bob"), [0, 1, "100", "100"], [0, 2, "80", "50"]),
      { type: "stream", index: 0, state: "connected" },
      startMs,
    );
    const lines = draw(state);
    expect(lines[0]).toBe("wallet tail  2 wallets  0.4 changes/s  1 connected  as given");
    expect(lines[2]).toMatch(
      /^ {2}WALLET +BALANCE +AVAILABLE +HELD +CHANGE +AGO +\/s +LAST 20 s +STREAM$/,
    );
    expect(lines[3]).toMatch(/^› alice +80 +50 +30 +-20 +0s +0\.4 +▁{18}█▁ +connected$/);
    expect(lines[4]).toMatch(/^ {2}bob +0 +0 +0 +0\.0 +▁{20} +connecting$/);
    expect(lines.at(-1)).toBe("↑↓ scroll  s sort  r reverse  p pause  d detail  q quit");
  });

  test("has amounts in the units of their assets, where these are known", () => {
    const state = after(
      start("alice", "gems", "new"),
      ...([
        [0, 1, "1234500", "1234500"],
        [1, 1, "100", "100"],
        [0, 2, "1234400", "1234000"],
      ] as [number, number, string, string][]),
    );
    const units: Readonly<Record<string, WalletUnit>> = {
      alice: { assetCode: "USD", exponent: 2 },
      gems: { assetCode: "GEM", exponent: 0 },
    };
    const lines = draw(press(state, "d"), 110, 20, false, (key) => units[key] ?? null);
    expect(lines[3]).toMatch(/^› alice +USD +12,344\.00 +12,340\.00 +4\.00 +-1\.00 /);
    expect(lines[4]).toMatch(/^ {2}gems +GEM +100 +100 +0 +\+100 /);
    expect(lines[5]).toMatch(/^ {2}new +0 +0 +0 {10}/);
    expect(lines).toContainEqual(
      expect.stringMatching(/^balance 12,344\.00, available 12,340\.00, held 4\.00 USD; seq 2;/),
    );
  });

  test("is as high and as wide as the screen, however many wallets there are", () => {
    for (const [columns, rows] of [
      [110, 12],
      [40, 8],
      [20, 5],
      [200, 60],
    ] as const) {
      for (const state of [many, press(many, "d"), press(many, "p")]) {
        const lines = draw(state, columns, rows);
        expect(lines.length, `${columns} by ${rows}`).toBe(rows);
        expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      }
    }
  });

  test("leaves out what matters least where it is narrow", () => {
    expect(draw(many, 60)[2]).toMatch(/^ {2}WALLET +BALANCE +AVAILABLE +HELD +\/s$/);
    expect(draw(many, 28)[2]).toMatch(/^ {2}WALLET +BALANCE$/);
  });

  test("scrolls to what is chosen, and says which part is seen", () => {
    const height = walletRows(many, { columns: 110, rows: 12 });
    const state = changeTail(many, { type: "key", key: "end", height }, startMs);
    const lines = draw(state);
    expect(lines[0]).toContain(`${31 - height} to 30 of 30 wallets`);
    expect(lines.find((line) => line.startsWith("›"))).toMatch(/^› wallet-30 /);
  });

  test("says that it stands still, and that connections are lost", () => {
    const lost = changeTail(press(many, "p"), { type: "stream", index: 3, state: "lost" }, startMs);
    expect(draw(lost)[0]).toMatch(/^wallet tail {2}PAUSED, 1 lost, reconnecting {2}/);
  });

  test("shows one wallet in detail, its last changes the newest first", () => {
    const state = press(after(start("alice"), [0, 1, "9", "9"], [0, 2, "9", "4"]), "d");
    const text = draw(state, 110, 20).join("\n");
    expect(text).toContain("balance 9, available 4, held 5; seq 2; no posting seen");
    expect(text).toMatch(/seq 2 {2}balance 0 {2}held \+5\n.*seq 1 {2}balance \+9\n/);
  });

  test("keeps a name with control characters from commanding the terminal", () => {
    const text = draw(start("evil\u001b[2J\nname"), 140).join("\n");
    expect(text).toContain("evil\\u001b[2J\\u000aname");
    expect(text).not.toContain("\u001b");
  });

  test("has no escape codes without colours", () => {
    expect(draw(press(many, "d"), 110, 30, false).join("")).not.toContain("\u001b");
  });
});
