// Whether somebody writes to a ledger, seen without keeping anybody from it.
import { expect, test } from "vitest";
import {
  isLedgerStateUnlocked,
  lockLedgerState,
  lockLedgerStateShared,
} from "../../src/store/ledger-states.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

test.each([
  ["who writes", lockLedgerStateShared],
  ["who changes its state", lockLedgerState],
])("the state of a ledger is seen to be locked by %s", async (_who, lock) => {
  const { books } = service;
  const ledgerId = await books.createLedger();
  await books.pool.transaction(async (other) => {
    await lock(other, ledgerId);
    expect(await books.pool.transaction((own) => isLedgerStateUnlocked(own, ledgerId))).toBe(false);
  });
  expect(await books.pool.transaction((own) => isLedgerStateUnlocked(own, ledgerId))).toBe(true);
});

test("who looks keeps nobody from locking it, and can lock it", async () => {
  const { books } = service;
  const ledgerId = await books.createLedger();
  await books.pool.transaction(async (own) => {
    expect(await isLedgerStateUnlocked(own, ledgerId)).toBe(true);
    await books.pool.transaction(async (other) => {
      expect(await lockLedgerState(other, ledgerId)).toBe("active");
    });
    expect(await lockLedgerStateShared(own, ledgerId)).toBe("active");
  });
});
