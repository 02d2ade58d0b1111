// A wallet's log: its rows, its pages, its gapless seq.
import { beforeAll, describe, expect, test } from "vitest";
import { serveBooks } from "../support/service.ts";
import { expectConsistentLog } from "../support/wallet-oracle.ts";
import {
  accepted,
  hold,
  move,
  newKey,
  readWalletLog,
  refusal,
  resolve,
  walletPath,
} from "../support/wallets.ts";
import { until } from "../support/until.ts";

const service = serveBooks({ variables: { LEDGERCTL_POST_INTERVAL_MS: "50" } });

interface Page {
  readonly writes: readonly { readonly seq: number; readonly amount: string }[];
  readonly hasMore: boolean;
}

async function readPage(key: string, query: string): Promise<Page> {
  const reply = await service.get(walletPath(key, `history${query}`));
  expect(reply.status, reply.text).toBe(200);
  expect(Object.keys(reply.body as object)).toEqual(["writes", "hasMore"]);
  return reply.body as Page;
}

test("a row has exactly its members, for each kind of change", async () => {
  const key = newKey(service);
  const more = { externalId: "e", metadata: '{"m":1}' };
  accepted(await move(service, key, "credit", 100, more));
  accepted(await move(service, key, "debit", 10));
  const committed = await hold(service, key, 20, { externalId: "r", metadata: "held" });
  const released = await hold(service, key, 30);
  accepted(await resolve(service, key, committed, "commit", { amount: "15" }));
  accepted(await resolve(service, key, released, "release"));
  const { writes } = await readPage(key, "");
  const common = { externalId: null, holdId: null, metadata: null };
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
  const journalId = expect.anything() as unknown;
  const rows = [
    { type: "credit", amount: "100", balance: "100", held: "0", ...more },
    { type: "debit", amount: "10", balance: "90", held: "0" },
    {
      type: "reserve",
      amount: "20",
      balance: "90",
      held: "20",
      holdId: committed,
      externalId: "r",
      metadata: "held",
    },
    { type: "reserve", amount: "30", balance: "90", held: "50", holdId: released },
    { type: "commit", amount: "15", balance: "75", held: "30", holdId: committed },
    { type: "release", amount: "30", balance: "75", held: "0", holdId: released },
  ];
  const told = writes.map((row) => ({ ...row, journalId: "any" }));
  expect(told).toEqual(
    rows.map((row, index) => ({ ...common, seq: index + 1, at, journalId, ...row })),
  );
});

test("a write names its entry once it is posted; what moves no money never does", async () => {
  const key = newKey(service);
  accepted(await move(service, key, "credit", 100));
  accepted(await resolve(service, key, await hold(service, key, 20), "commit"));
  accepted(await resolve(service, key, await hold(service, key, 20), "release"));
  const isPosted = async () => {
    const log = await readWalletLog(service, key);
    return log.filter(({ journalId }) => journalId !== null).length === 2;
  };
  await until("its posting", isPosted);
  for (const { type, journalId } of await readWalletLog(service, key)) {
    if (type !== "credit" && type !== "commit") expect(journalId).toBeNull();
    else {
      const target = `/v1/ledgers/${service.books.ledgerId}/journal-entries/${journalId ?? ""}`;
      expect((await service.get(target)).body).toMatchObject({ eventType: "WALLET_BATCH" });
    }
  }
});

describe("pages", () => {
  let key: string;

  beforeAll(async () => {
    key = newKey(service);
    const writes = Array.from({ length: 130 }, (_, index) => ({
      callerKey: key.slice(37),
      type: "credit",
      amount: String(index + 1),
      assetCode: "USD",
    }));
    const target = `/v1/ledgers/${service.books.ledgerId}/wallet-writes`;
    expect((await service.post(target, { writes })).status).toBe(200);
  });

  test.each([
    ["", 1, 50, true],
    ["?limit=100", 1, 100, true],
    ["?limit=1000000", 1, 100, true],
    ["?limit=1", 1, 1, true],
    ["?after=0", 1, 50, true],
    ["?after=80", 81, 50, false],
    ["?after=79", 80, 50, true],
    ["?after=129", 130, 1, false],
    ["?after=30&limit=100", 31, 100, false],
    ["?after=29&limit=100", 30, 100, true],
    ["?unknown=1&unknown=2", 1, 50, true],
  ])("of %j begin at seq %i and have %i rows", async (query, first, count, hasMore) => {
    const page = await readPage(key, query);
    const expected = Array.from({ length: count }, (_, index) => first + index);
    expect(page.writes.map(({ seq }) => seq)).toEqual(expected);
    expect(page.writes.map(({ amount }) => amount)).toEqual(expected.map(String));
    expect(page.hasMore).toBe(hasMore);
  });

  test.each(["?after=130", "?after=9007199254740991"])(
    "behind the end (%s) are empty",
    async (q) => {
      expect(await readPage(key, q)).toEqual({ writes: [], hasMore: false });
    },
  );

  test.each([
    "limit=0",
    "limit=-1",
    "limit=1.5",
    "limit=x",
    "limit=",
    "limit=1&limit=2",
    "after=-1",
    "after=x",
    "after=1e3",
    "after=9007199254740992",
    "after=1&after=1",
    "after=%zz",
  ])("of ?%s are refused", async (query) => {
    refusal(await service.get(walletPath(key, `history?${query}`)), 400);
  });
});

test("seq has no gaps where refused, repeated and accepted writes come at once", async () => {
  const key = newKey(service);
  accepted(await move(service, key, "credit", 1000));
  await Promise.all(
    Array.from({ length: 120 }, async (_, index) => {
      const externalId = `k${index % 80}`;
      const verb = index % 3 === 0 ? "credit" : index % 3 === 1 ? "debit" : "reserve";
      await move(service, key, verb, 37, { externalId, ...(index % 10 ? {} : { assetCode: "X" }) });
    }),
  );
  expectConsistentLog(await readWalletLog(service, key));
});
