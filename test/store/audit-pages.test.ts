// How much an audit reads at a time, where rows are large.
import { expect, test } from "vitest";
import { paths } from "../../src/contract/paths.ts";
import { readAuditedEntries } from "../../src/store/audit/journal.ts";
import { readAuditedWrites } from "../../src/store/audit/wallets.ts";
import { entry, postEntry } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

async function lengthsOf(pages: AsyncIterable<readonly unknown[]>): Promise<number[]> {
  const lengths: number[] = [];
  for await (const page of pages) lengths.push(page.length);
  return lengths;
}

test("a page ends before what jsonb prints of its entries comes to more than 8 MiB", async () => {
  const { pool, ledgerId } = service.books;
  // 54 kB as they are sent, 2.8 MB as the database writes them out.
  const metadata = { numbers: Array.from({ length: 9_000 }, () => 1e308) };
  for (let count = 0; count < 8; count += 1) await postEntry(service, entry(1, { metadata }));
  const lengths = await lengthsOf(readAuditedEntries(pool, ledgerId));
  expect(lengths.reduce((sum, length) => sum + length)).toBe(8);
  expect(Math.max(...lengths)).toBe(2);
});

test("a page of wallets' logs ends before their metadata comes to more than 8 MiB", async () => {
  const { pool, ledgerId } = service.books;
  const metadata = "x".repeat(60_000);
  for (let bulk = 0; bulk < 30; bulk += 1) {
    const writes = Array.from({ length: 10 }, (_, index) => ({
      ...{ type: "credit", callerKey: "one", amount: "1", assetCode: "USD", metadata },
      externalId: `${bulk}-${index}`,
    }));
    const { status } = await service.post(paths.writeWallets({ ledgerId }), { writes });
    expect(status).toBe(200);
  }
  expect(await lengthsOf(readAuditedWrites(pool, ledgerId))).toEqual([100, 139, 61]);
});
