// Thousands of stream readers on one server: every one of them gets every message.
import { expect, test } from "vitest";
import { neverPosting } from "../support/engine.ts";
import { serveBooks } from "../support/service.ts";
import { openStream, type StreamReader } from "../support/stream-reader.ts";
import { accepted, move, newKey } from "../support/wallets.ts";

const service = serveBooks(neverPosting);
const readers = 2_500;
const openedAtOnce = 100;

async function openAll(keys: readonly string[]): Promise<StreamReader[]> {
  const opened: StreamReader[] = [];
  for (let from = 0; from < keys.length; from += openedAtOnce) {
    const some = keys.slice(from, from + openedAtOnce);
    opened.push(...(await Promise.all(some.map((key) => openStream(service, key)))));
  }
  return opened;
}

test("all readers of one wallet get its writes, in order, and those of as many others their own", async () => {
  const shared = newKey(service);
  const keys = Array.from({ length: readers / 2 }, () => newKey(service));
  const sharing = await openAll(keys.map(() => shared));
  const owning = await openAll(keys);
  const balances = Array.from({ length: 10 }, (_, index) => String(index + 1));
  for (const balance of balances)
    expect(accepted(await move(service, shared, "credit", 1)).balance).toBe(balance);
  const { ledgerId } = service.books;
  for (const amount of ["2", "3"]) {
    for (let from = 0; from < keys.length; from += openedAtOnce) {
      const writes = keys.slice(from, from + openedAtOnce).map((key) => ({
        callerKey: key.slice(ledgerId.length + 1),
        type: "credit",
        amount,
        assetCode: "USD",
      }));
      const reply = await service.post(`/v1/ledgers/${ledgerId}/wallet-writes`, { writes });
      expect(reply.text.match(/"accepted"/g)).toHaveLength(writes.length);
    }
  }
  for (const [opened, expected] of [
    [sharing, balances],
    [owning, ["2", "5"]],
  ] as const) {
    for (const reader of opened) {
      await reader.reach(expected.length);
      expect(reader.messages.map(({ balance }) => balance)).toEqual(expected);
    }
  }
  await Promise.all([...sharing, ...owning].map((reader) => reader.end()));
});
