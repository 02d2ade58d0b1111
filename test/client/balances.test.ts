// The client's balances of accounts, which the service writes as numbers of any size.
import { afterAll, beforeAll, expect, test } from "vitest";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { entry, postEntry } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const asOf = "9999-12-31T00:00:00Z";
let client: LedgerClient;

beforeAll(() => {
  client = new LedgerClient({
    url: `http://127.0.0.1:${service.port}`,
    ...service.books.credentials,
  });
});

afterAll(() => client.close());

test.each([
  2n ** 53n + 1n,
  // The shortest forms of doubles that are other numbers.
  20_000_000_138_403_510n,
  10n ** 23n,
  10n ** 37n,
])("has all digits of %s", async (amount) => {
  const ledgerId = await service.books.createLedger();
  await postEntry(service, entry(amount), ledgerId);
  expect(await client.getBalance(ledgerId, { account: "1000" })).toEqual({
    glAccountCode: "1000",
    balance: amount,
    currency: "USD",
    entryCount: 1,
  });
  const { balance } = await client.getBalance(ledgerId, { account: "4000", asOf });
  expect(balance).toBe(-amount);
});
