// Transfers between wallets: what they do to both, what is refused, idempotency, atomic bulks, holds.
import { describe, expect, test } from "vitest";
import { pointers, problem } from "../support/entries.ts";
import { neverPosting, openEngine } from "../support/engine.ts";
import { serveBooks } from "../support/service.ts";
import { openStream } from "../support/stream-reader.ts";
import {
  transfer,
  transferFunds,
  transferOne,
  transferResults,
  type TransferResult,
} from "../support/transfers.ts";
import {
  accepted,
  expectDuplicate,
  expectFigures,
  hold,
  move,
  readWalletLog,
  refusal,
  resolve,
} from "../support/wallets.ts";

// Postings would be told in the streams as well.
const service = serveBooks(neverPosting);
const key = (name: string) => `${service.books.ledgerId}:${name}`;
const figures = (balance: number, available = balance) => ({
  balance: String(balance),
  available: String(available),
});
const statuses = (results: readonly TransferResult[]) => results.map(({ status }) => status);

let made = 0;

/** The names of new wallets: the first has an amount, the others were never written. */
async function funded(amount: number, ...names: string[]): Promise<string[]> {
  made += 1;
  const [first = "", ...others] = ["from", ...names].map((name) => `${name} ${made}`);
  accepted(await move(service, key(first), "credit", amount));
  return [first, ...others];
}

describe("a transfer", () => {
  test("debits one wallet and credits another, a new one too, and says so in both logs", async () => {
    const [from = "", to = ""] = await funded(100, "to");
    const more = { externalId: "rent", metadata: "March" };
    const result = await transferOne(service, from, to, 30, more);
    const transferId = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
    expect(result).toEqual({
      ...{ status: "accepted", transferId },
      ...{ from: figures(70), to: figures(30) },
    });
    const [, out] = await readWalletLog(service, key(from));
    const [into] = await readWalletLog(service, key(to));
    const both = { amount: "30", held: "0", holdId: null, metadata: "March", journalId: null };
    const at = expect.any(String) as string;
    const id = result.transferId;
    expect(out).toEqual({
      ...{ ...both, at, transferId: id, seq: 2, type: "transfer-out", balance: "70" },
      ...{ externalId: "rent", counterparty: to },
    });
    expect(into).toEqual({
      ...{ ...both, at, transferId: id, seq: 1, type: "transfer-in", balance: "30" },
      ...{ externalId: null, counterparty: from },
    });
  });

  test("is told in both streams, in order with other writes", async () => {
    const [from = "", to = ""] = await funded(100, "to");
    const readers = await Promise.all([from, to].map((name) => openStream(service, key(name))));
    await transferOne(service, from, to, 30);
    accepted(await move(service, key(to), "debit", 5));
    await transferOne(service, to, from, 1);
    const told = [
      ["70", "71"],
      ["30", "25", "24"],
    ];
    for (const [index, reader] of readers.entries()) {
      await reader.reach(told[index]?.length ?? 0);
      await reader.end();
      expect(reader.messages.map(({ balance }) => balance)).toEqual(told[index]);
    }
  });

  test("is in no posted sum: the ledger's total does not move", async () => {
    const engine = openEngine(service.books.databaseUrl);
    const ledgerId = await service.books.createLedger();
    const path = `/v1/ledgers/${ledgerId}`;
    accepted(await move(service, `${ledgerId}:a`, "credit", 100));
    const sent = transferFunds(service, [transfer("a", "b", 40)], {}, ledgerId);
    expect(statuses(transferResults(await sent))).toEqual(["accepted"]);
    accepted(await move(service, `${ledgerId}:b`, "debit", 15));
    await engine.post(ledgerId);
    await engine.end();
    const balance = await service.get(`${path}/balances?account=wallets:USD`);
    expect(balance.body).toMatchObject({ balance: -85 });
    const [, , paid] = await readWalletLog(service, `${ledgerId}:a`);
    expect(paid).toBeUndefined();
    const rows = await readWalletLog(service, `${ledgerId}:b`);
    expect(rows.map(({ type, journalId }) => [type, journalId === null])).toEqual([
      ["transfer-in", true],
      ["debit", false],
    ]);
  });

  test("of more than is available is refused with 422, and makes no wallet", async () => {
    const [from = "", to = ""] = await funded(100, "to");
    await hold(service, key(from), 30);
    const result = await transferOne(service, from, to, 71, { externalId: "free again" });
    expect(result).toEqual({ status: 422, error: "the amount is more than is available" });
    expect(await readWalletLog(service, key(to))).toEqual([]);
    const next = await transferOne(service, from, to, 70, { externalId: "free again" });
    expect(next).toMatchObject({ status: "accepted", from: figures(30, 0), to: figures(70) });
  });

  test("between wallets of two assets, or of another asset, is refused with 400", async () => {
    const [from = "", euros = "", fresh = ""] = await funded(100, "euros", "fresh");
    accepted(await move(service, key(euros), "credit", 5, { assetCode: "EUR" }));
    const of = (to: string, assetCode: string) => transferOne(service, from, to, 1, { assetCode });
    expect(await of(euros, "USD")).toEqual({
      status: 400,
      error: `assetCode must be EUR, the asset of the wallet "${euros}"`,
    });
    expect(await of(fresh, "EUR")).toMatchObject({ status: 400 });
    // The wallet that was not made belongs to no asset.
    accepted(await move(service, key(fresh), "credit", 5, { assetCode: "EUR" }));
  });

  test("of 38 digits keeps every digit, in sums past them too", async () => {
    const most = 10n ** 38n - 1n;
    const [from, to] = ["most from", "most to"] as const;
    for (const name of [from, to]) accepted(await move(service, key(name), "credit", most));
    const result = await transferOne(service, from, to, most);
    expect(result).toMatchObject({ from: figures(0), to: { balance: String(2n * most) } });
    const back = await transferOne(service, to, from, most);
    expect(back).toMatchObject({ to: { balance: String(most) } });
  });

  test("may go below zero as far as the asset's rule lets it", async () => {
    const engine = openEngine(service.books.databaseUrl);
    const ledgerId = await service.books.createLedger();
    await engine.setRule(ledgerId, "USD", { overdraftLimit: 50n });
    await engine.end();
    const sent = [transfer("new", "b", 50), transfer("new", "b", 1)];
    const [lent, refused] = transferResults(await transferFunds(service, sent, {}, ledgerId));
    expect(lent).toMatchObject({ from: figures(-50), to: figures(50) });
    expect(refused).toMatchObject({ status: 422 });
  });
});

describe("the body of transfers", () => {
  const members = { from: "a", to: "b", amount: "1", assetCode: "USD" };
  test.each([
    [{}, ["#/transfers"]],
    [{ transfers: null }, ["#/transfers"]],
    [{ transfers: [] }, ["#/transfers"]],
    [{ transfers: Array.from({ length: 1001 }, () => members) }, ["#/transfers"]],
    [{ transfers: [members], atomic: "yes" }, ["#/atomic"]],
    [{ transfers: [members], other: 1 }, ["#/other"]],
    [[members], ["#"]],
    [{ transfers: [members, { ...members, to: "a" }], atomic: true }, ["#/transfers/1/to"]],
    [{ transfers: [members, 7], atomic: true }, ["#/transfers/1"]],
    [
      { transfers: [members, { from: "\u0001", amount: 1, fromHold: 3 }], atomic: true },
      ["from", "to", "amount", "assetCode", "fromHold"].map((name) => `#/transfers/1/${name}`),
    ],
    [
      { transfers: ["x", "x"].map((externalId) => ({ ...members, externalId })), atomic: true },
      ["#/transfers/1/externalId"],
    ],
  ])("%j is refused as a whole", async (body, expected) => {
    const target = `/v1/ledgers/${service.books.ledgerId}/wallet-transfers`;
    expect(pointers(await service.post(target, body))).toEqual(expected);
  });

  test("has each faulty transfer by itself refused, unless it is atomic", async () => {
    const [from = "", to = ""] = await funded(100, "to");
    const faulty = [
      transfer(from, from),
      transfer(from, to, 0),
      { ...transfer(from, to), extra: true },
      transfer(from, to, 10n ** 38n),
      transfer("", to),
      transfer(from, to, 10, { fromHold: "no hold" }),
      transfer(from, to, 10),
    ];
    const results = transferResults(await transferFunds(service, faulty));
    expect(statuses(results)).toEqual([400, 400, 400, 400, 400, 404, "accepted"]);
    expect(results[0]?.error).toBe("to must be another wallet than from");
  });
});

describe("an externalId of a transfer", () => {
  test("is that of one write of from, whatever it was, and of none of to", async () => {
    const [from = "", to = "", third = ""] = await funded(100, "to", "third");
    const known = { externalId: "known" };
    accepted(await move(service, key(from), "debit", 1, known));
    const first = await transferOne(service, from, to, 10, { externalId: "x" });
    const again = await transferOne(service, from, third, 99, { externalId: "x" });
    expect(again).toEqual({
      ...{ status: "duplicate", transferId: first.transferId },
      ...{ from: figures(89), to: figures(0) },
    });
    expect(await transferOne(service, from, to, 10, known)).toEqual({
      ...{ status: "duplicate", transferId: null, from: figures(89), to: figures(10) },
    });
    expectDuplicate(await move(service, key(from), "credit", 5, { externalId: "x" }), "89");
    accepted(await move(service, key(to), "debit", 1, { externalId: "x" }));
    expect(await transferOne(service, to, from, 1, { externalId: "x" })).toMatchObject({
      status: "duplicate",
      transferId: null,
    });
  });

  test("is told a duplicate whatever would refuse it today, and within one request", async () => {
    const [from = "", to = ""] = await funded(10, "to");
    const twice = [1, 2].map(() => transfer(from, to, 10, { externalId: "all" }));
    const results = transferResults(await transferFunds(service, twice));
    expect(statuses(results)).toEqual(["accepted", "duplicate"]);
    expect(results[1]?.transferId).toBe(results[0]?.transferId);
    expect(await transferOne(service, from, to, 10, { externalId: "all" })).toMatchObject({
      status: "duplicate",
      transferId: results[0]?.transferId,
    });
  });

  test("of a transfer from a hold is no reservation's", async () => {
    const [from = "", to = ""] = await funded(100, "to");
    const fromHold = await hold(service, key(from), 50);
    await transferOne(service, from, to, 50, { fromHold, externalId: "x" });
    const again = await move(service, key(from), "reserve", 1, { externalId: "x" });
    expect(again.body).toMatchObject({ status: "duplicate", holdId: null });
  });
});

describe("atomic transfers", () => {
  const atomic = { atomic: true };

  test("are all made, in order, each seeing those before it", async () => {
    const [a = "", b = "", c = ""] = await funded(100, "b", "c");
    const sent = [transfer(a, b, 100), transfer(b, c, 60), transfer(c, a, 60), transfer(a, c, 1)];
    const results = transferResults(await transferFunds(service, sent, atomic));
    expect(results.map(({ from, to }) => [from?.balance, to?.balance])).toEqual([
      ["0", "100"],
      ["40", "60"],
      ["0", "60"],
      ["59", "1"],
    ]);
    const expected: Record<string, number> = { [a]: 59, [b]: 40, [c]: 1 };
    for (const name of [a, b, c]) await expectFigures(service, key(name), expected[name] ?? 0);
  });

  test("are none made where one fails, whose place the problem names", async () => {
    const [a = "", b = "", c = ""] = await funded(100, "b", "c");
    const holdId = await hold(service, key(a), 40);
    const sent = [
      transfer(a, b, 20, { externalId: "first" }),
      transfer(a, c, 40, { fromHold: holdId }),
      transfer(b, c, 21),
    ];
    const reply = await transferFunds(service, sent, atomic);
    expect(problem(reply)).toMatchObject({
      ...{ status: 422, code: "INSUFFICIENT_FUNDS" },
      type: "urn:ledgerctl:problem:insufficient-funds",
      errors: [{ detail: "the amount is more than is available", pointer: "#/transfers/2" }],
    });
    await expectFigures(service, key(a), 100, 60);
    for (const name of [b, c]) expect(await readWalletLog(service, key(name))).toEqual([]);
    // What was taken back is as it was: the key, the hold, the order of the log.
    const [retried] = transferResults(await transferFunds(service, sent.slice(0, 1), atomic));
    expect(retried?.status).toBe("accepted");
    accepted(await resolve(service, key(a), holdId, "release"));
    const seqs = (await readWalletLog(service, key(a))).map(({ seq, type }) => `${seq} ${type}`);
    expect(seqs).toEqual(["1 credit", "2 reserve", "3 transfer-out", "4 release"]);
  });

  test("that were all made before are duplicates; where only some were, it is 409", async () => {
    const [a = "", b = ""] = await funded(100, "b");
    const [one, two] = ["1", "2"].map((externalId) => transfer(a, b, 30, { externalId }));
    const first = transferResults(await transferFunds(service, [one, two], atomic));
    const again = transferResults(await transferFunds(service, [one, two], atomic));
    expect(again.map(({ status, transferId }) => [status, transferId])).toEqual(
      first.map(({ transferId }) => ["duplicate", transferId]),
    );
    const three = transfer(a, b, 30, { externalId: "3" });
    const mixed = await transferFunds(service, [three, two], atomic);
    expect(problem(mixed)).toMatchObject({ status: 409, errors: [{ pointer: "#/transfers/1" }] });
    await expectFigures(service, key(b), 60);
    const withoutKey = await transferFunds(service, [one, transfer(a, b, 1)], atomic);
    expect(problem(withoutKey)).toMatchObject({ status: 409 });
  });

  test("of 1000 are one transaction", async () => {
    const [a = "", b = ""] = await funded(1000, "b");
    const sent = Array.from({ length: 1000 }, (_, index) =>
      transfer(index % 2 === 0 ? a : b, index % 2 === 0 ? b : a, 1000 - index),
    );
    const results = transferResults(await transferFunds(service, sent, atomic));
    expect(new Set(statuses(results))).toEqual(new Set(["accepted"]));
    expect(await readWalletLog(service, key(b))).toHaveLength(1000);
  });
});

describe("a transfer from a hold", () => {
  test("takes the money from the reservation and releases the rest", async () => {
    const [from = "", to = ""] = await funded(100, "to");
    const fromHold = await hold(service, key(from), 80);
    expect(await transferOne(service, from, to, 81, { fromHold })).toEqual({
      status: 400,
      error: "amount must not be more than is held",
    });
    const result = await transferOne(service, from, to, 30, { fromHold });
    expect(result).toMatchObject({ from: figures(70), to: figures(30) });
    const [row] = (await readWalletLog(service, key(from))).slice(-1);
    expect(row).toMatchObject({ type: "transfer-out", amount: "30", held: "0", holdId: fromHold });
    const gone = "the hold has been transferred already";
    expect(refusal(await resolve(service, key(from), fromHold, "commit"), 409)).toBe(gone);
    expect(refusal(await resolve(service, key(from), fromHold, "release"), 409)).toBe(gone);
    expect(await transferOne(service, from, to, 1, { fromHold })).toMatchObject({ status: 409 });
  });

  test("finds no hold of another wallet, and none that was resolved", async () => {
    const [from = "", to = ""] = await funded(100, "to");
    accepted(await move(service, key(to), "credit", 10));
    const others = await hold(service, key(to), 5);
    const released = await hold(service, key(from), 5);
    accepted(await resolve(service, key(from), released, "release"));
    const status = async (fromHold: string) =>
      (await transferOne(service, from, to, 5, { fromHold })).status;
    expect([await status(others), await status(released)]).toEqual([404, 409]);
  });
});

test("a suspended ledger refuses transfers, but tells duplicates", async () => {
  const engine = openEngine(service.books.databaseUrl);
  const ledgerId = await service.books.createLedger();
  accepted(await move(service, `${ledgerId}:a`, "credit", 10));
  const sent = [transfer("a", "b", 10, { externalId: "x" })];
  await transferFunds(service, sent, {}, ledgerId);
  await engine.changeStatus(ledgerId, "suspended");
  await engine.end();
  const more = [...sent, transfer("b", "a", 1)];
  const results = transferResults(await transferFunds(service, more, {}, ledgerId));
  expect(statuses(results)).toEqual(["duplicate", 403]);
  const refused = await transferFunds(service, [transfer("b", "a", 1)], { atomic: true }, ledgerId);
  expect(problem(refused)).toMatchObject({ status: 403, code: "LEDGER_SUSPENDED" });
});
