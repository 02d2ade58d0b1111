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

test("all readers of one wallet hear each of its writes, in order", async () => {
  const key = newKey(service);
  const opened = await openAll(Array.from({ length: readers }, () => key));
  const balances = Array.from({ length: 20 }, (_, index) => String(index + 1));
  for (const balance of balances)
    expect(accepted(await move(service, key, "credit", 1)).balance).toBe(balance);
  for (const reader of opened) {
    await reader.reach(balances.length);
    expect(reader.messages.map(({ balance }) => balance)).toEqual(balances);
  }
  await Promise.all(opened.map((reader) => reader.end()));
});

test("readers of as many wallets hear each the writes of their own", async () => {
  const keys = Array.from({ length: readers }, () => newKey(service));
  const opened = await openAll(keys);
  const writeAll = async (amount: number) => {
    for (let from = 0; from < keys.length; from += openedAtOnce) {
      const some = keys.slice(from, from + openedAtOnce);
      await Promise.all(
        some.map(async (key) => accepted(await move(service, key, "credit", amount))),
      );
    }
  };
  await writeAll(2);
  await writeAll(3);
  for (const reader of opened) {
    await reader.reach(2);
    expect(reader.messages.map(({ balance }) => balance)).toEqual(["2", "5"]);
  }
  await Promise.all(opened.map((reader) => reader.end()));
});
