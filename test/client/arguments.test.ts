// What a caller without types may leave out is named before anything is sent.
import { expect, it } from "vitest";
import { LedgerClient, type SignedHttpOptions } from "../../src/client/ledger-client.ts";

const options = { url: "http://127.0.0.1:1", apiKey: "lk_x", apiSecret: "ls_x", retryForMs: 0 };

it.each([
  ["url", undefined],
  ["apiKey", undefined],
  ["apiSecret", undefined],
  ["apiSecret", ""],
  ["url", "127.0.0.1:8420"],
  ["url", "ftp://127.0.0.1"],
])("refuses a client whose %s is %j", (name, value) => {
  const given = { ...options, [name]: value } as SignedHttpOptions;
  expect(() => new LedgerClient(given)).toThrow(TypeError);
  expect(() => new LedgerClient(given)).toThrow(new RegExp(`^${name} must be`));
});

it("refuses a call without its ledger, entry or wallet", async () => {
  const client = new LedgerClient(options);
  const missing = undefined as unknown as string;
  await expect(client.getLedger(missing)).rejects.toThrow(/^ledgerId must be a text/);
  await expect(client.postEntry(missing, { lines: [] })).rejects.toThrow(/^ledgerId must be/);
  await expect(client.getEntry("x", missing)).rejects.toThrow(/^entryId must be/);
  const wallet = { ledgerId: "x", callerKey: missing };
  await expect(client.getWalletBalance(wallet)).rejects.toThrow(/^callerKey must be/);
  const elsewhere = { ledgerId: missing, callerKey: "alice" };
  await expect(client.getWalletBalance(elsewhere)).rejects.toThrow(/^ledgerId must be/);
  expect(() => client.streamWallet(elsewhere)).toThrow(/^ledgerId must be/);
  await client.close();
});
