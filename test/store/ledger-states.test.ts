// Whether somebody else has a ledger's state locked, seen without keeping anybody from it.
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  isLedgerStateLockedByOthers,
  lockLedgerState,
  lockLedgerStateShared,
} from "../../src/store/ledger-states.ts";
import { createBooks, type TestBooks } from "../support/service.ts";

let books: TestBooks;

beforeAll(async () => {
  books = await createBooks();
});

afterAll(() => books.drop());

function isLocked(ledgerId: string): Promise<boolean> {
  return books.pool.transaction((own) => isLedgerStateLockedByOthers(own, ledgerId));
}

test.each([
  ["who writes", lockLedgerStateShared],
  ["who changes it", lockLedgerState],
])("the state of a ledger is seen to be locked by %s", async (_who, lock) => {
  const ledgerId = await books.createLedger();
  await books.pool.transaction(async (other) => {
    await lock(other, ledgerId);
    expect(await isLocked(ledgerId)).toBe(true);
  });
  expect(await isLocked(ledgerId)).toBe(false);
});

test("who looks keeps nobody from locking it, and can lock it", async () => {
  const ledgerId = await books.createLedger();
  await books.pool.transaction(async (own) => {
    expect(await isLedgerStateLockedByOthers(own, ledgerId)).toBe(false);
    await books.pool.transaction(async (other) => {
      expect(await lockLedgerState(other, ledgerId)).toBe("active");
    });
    expect(await lockLedgerStateShared(own, ledgerId)).toBe("active");
  });
});
