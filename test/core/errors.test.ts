// The catalog of refusals, JSON pointers and assertions.
import { describe, expect, test } from "vitest";
import {
  assert,
  jsonPointer,
  problemKinds,
  Refusal,
  validationRefusal,
} from "../../src/core/errors.ts";

describe("JSON pointers", () => {
  test.each([
    [[], "#"],
    [["lines", 1, "functionalAmount"], "#/lines/1/functionalAmount"],
    [["metadata", ""], "#/metadata/"],
    [["metadata", "a/b"], "#/metadata/a~1b"],
    [["metadata", "m~n"], "#/metadata/m~0n"],
    [["metadata", "~1"], "#/metadata/~01"],
    [["metadata", "c%d"], "#/metadata/c%25d"],
    [["metadata", "e^f"], "#/metadata/e%5Ef"],
    [["metadata", "#?"], "#/metadata/%23%3F"],
    [["metadata", " "], "#/metadata/%20"],
    [["metadata", 'k"l'], "#/metadata/k%22l"],
    [["metadata", "ü"], "#/metadata/%C3%BC"],
    [["metadata", "\ud800"], "#/metadata/%EF%BF%BD"],
  ])("of %j are %s", (path, pointer) => {
    expect(jsonPointer(path)).toBe(pointer);
  });
});

describe("the catalog of refusals", () => {
  test("has each code once, in capitals", () => {
    const codes = Object.values(problemKinds).flatMap(({ code }) => code ?? []);
    expect(new Set(codes).size).toBe(codes.length);
    for (const code of codes) expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
  });

  test("stands in the order of precedence of the contract", () => {
    const statuses = Object.values(problemKinds).map(({ status, code }) => code ?? status);
    expect(statuses).toEqual([
      404,
      405,
      413,
      401,
      429,
      404,
      "INSUFFICIENT_SCOPE",
      415,
      "VALIDATION_ERROR",
      "DUPLICATE_ENTRY",
      409,
      "ALREADY_REVERSED",
      "LEDGER_SUSPENDED",
      "LEDGER_CLOSED",
      "WALLET_FROZEN",
      "ENTRY_NOT_FOUND",
      "CLOSE_NOT_FOUND",
      "CHECKPOINT_NOT_FOUND",
      "ACCOUNT_NOT_FOUND",
      "ACCOUNT_IN_USE",
      "DELIVERY_NOT_FOUND",
      "REVERSAL_NOT_REVERSIBLE",
      "WALLET_BATCH_NOT_REVERSIBLE",
      "PERIOD_CLOSED",
      "PERIOD_OUT_OF_ORDER",
      "NOT_LOGGED_YET",
      404,
      404,
      409,
      "INSUFFICIENT_FUNDS",
      422,
      426,
      "UNAVAILABLE",
      "OUTCOME_UNKNOWN",
      500,
    ]);
  });

  test("gives a refusal its status and code", () => {
    const refusal = new Refusal("duplicateEntry", "used", { members: { journalId: "x" } });
    expect([refusal.status, refusal.code, refusal.message]).toEqual([
      409,
      "DUPLICATE_ENTRY",
      "used",
    ]);
    expect(refusal.members).toEqual({ journalId: "x" });
  });

  test("tells the one fault there is as the detail, and how many there are otherwise", () => {
    const fault = { path: ["lines"], detail: "is required" };
    expect(validationRefusal([fault]).message).toBe("is required");
    expect(validationRefusal([fault, fault]).message).toContain("2");
    expect(validationRefusal([fault, fault]).faults).toHaveLength(2);
  });
});

test("an assertion that does not hold is an error and no refusal", () => {
  expect(() => {
    assert(false, "two is one");
  }).toThrow("two is one");
});
