// The closes of a ledger, read page by page.
import { expect, test } from "vitest";
import { closesOf } from "../../src/cli/commands/period/find-close.ts";

test("a list that says that it goes on and gives nothing ends", async () => {
  let calls = 0;
  const listCloses = () => {
    calls += 1;
    // A loop of promises that resolve at once could not be interrupted.
    if (calls > 1) throw new Error("the same page was asked for again");
    return Promise.resolve({ closes: [], total: 1, hasMore: true });
  };
  const found: unknown[] = [];
  for await (const close of closesOf({ listCloses }, "ledger")) found.push(close);
  expect([found, calls]).toEqual([[], 1]);
});
