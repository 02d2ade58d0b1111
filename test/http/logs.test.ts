// The logs of a ledger over HTTP: checkpoints, consistency and proofs, as an outsider verifies them.
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { canonicalEntry } from "../../src/core/canonical.ts";
import { formatOrigin, logSigner } from "../../src/core/log-origin.ts";
import { emptyRoot, isConsistent } from "../../src/core/merkle.ts";
import { formatVerifierKey, parseVerifierKey } from "../../src/core/note.ts";
import { policyOfKeys } from "../../src/core/tlog-policy.ts";
import type { CheckpointPage, Close, Consistency, Log } from "../../src/contract/types.ts";
import { verifyCheckpoint } from "../../src/verify/checkpoint.ts";
import { verifyTlogProof } from "../../src/verify/tlog-proof.ts";
import { entry, postEntry, problem } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import { until } from "../support/until.ts";

const logKey = randomBytes(32);
const service = serveBooks({
  variables: {
    LEDGERCTL_LOG_KEY: logKey.toString("base64"),
    LEDGERCTL_LOG_NAME: "ledger.example.com",
    LEDGERCTL_CHECKPOINT_INTERVAL_MS: "60",
  },
});
const withoutKey = serveBooks();

const logsOf = (ledgerId: string) => `/v1/ledgers/${ledgerId}/logs`;
const entries = (ledgerId: string) => `/v1/ledgers/${ledgerId}/journal-entries`;

async function readLog(ledgerId: string, log = "journal"): Promise<Log> {
  const reply = await service.get(`${logsOf(ledgerId)}/${log}`);
  expect(reply.status, reply.text).toBe(200);
  return reply.body as Log;
}

async function post(ledgerId: string, count: number): Promise<void> {
  const drafts = Array.from({ length: count }, () =>
    entry(100, { transactionDate: "2026-01-15T00:00:00Z" }),
  );
  const reply = await service.post(`${entries(ledgerId)}/bulk`, { entries: drafts, atomic: true });
  expect(reply.status, reply.text).toBe(201);
}

/** The log once its newest checkpoint has so many leaves. */
function readLogAt(ledgerId: string, size: number, log = "journal"): Promise<Log> {
  return until(`a checkpoint of ${size}`, async () => {
    const found = await readLog(ledgerId, log);
    return found.size === size && found;
  });
}

const policyOf = ({ verifierKey }: { verifierKey: string }) =>
  policyOfKeys([parseVerifierKey(verifierKey)], []);

test("a log without entries has a key, and no checkpoint", async () => {
  const ledgerId = await service.books.createLedger();
  const origin = formatOrigin("ledger.example.com", { ledgerId, log: "journal", generation: 1 });
  const verifierKey = formatVerifierKey(logSigner(logKey, origin).verifierKey);
  expect(await readLog(ledgerId)).toEqual({
    ...{ origin, verifierKey, size: 0, rootHash: emptyRoot.toString("hex"), issuedAt: null },
    ...{ checkpoint: null, cosigners: [], halted: null, witnesses: [], witnessLines: [] },
    origins: [{ origin, verifierKey }],
  });
  const reply = await service.get(`${logsOf(ledgerId)}/journal/checkpoint`);
  expect(problem(reply)).toMatchObject({ status: 404, code: "CHECKPOINT_NOT_FOUND" });
});

test("checkpoints follow the journal, and each begins with those before", async () => {
  const ledgerId = await service.books.createLedger();
  const sizes = [3, 300, 513];
  let before = 0;
  for (const size of sizes) {
    await post(ledgerId, size - before);
    await readLogAt(ledgerId, size);
    before = size;
  }
  const log = await readLogAt(ledgerId, 513);
  const page = (await service.get(`${logsOf(ledgerId)}/journal/checkpoints?limit=2`))
    .body as CheckpointPage;
  expect(page).toMatchObject({ total: 3, hasMore: true });
  expect(page.checkpoints.map(({ size }) => size)).toEqual([3, 300]);
  const notes = await Promise.all(
    sizes.map(async (size) => {
      const reply = await service.get(`${logsOf(ledgerId)}/journal/checkpoint?size=${size}`);
      expect(reply.headers["content-type"]).toBe("text/plain; charset=utf-8");
      return verifyCheckpoint(reply.text, policyOf(log));
    }),
  );
  expect((await service.get(`${logsOf(ledgerId)}/journal/checkpoint`)).text).toBe(log.checkpoint);
  for (const from of notes) {
    for (const to of notes.filter(({ size }) => size >= from.size)) {
      const target = `${logsOf(ledgerId)}/journal/consistency?from=${from.size}&to=${to.size}`;
      const { hashes } = (await service.get(target)).body as Consistency;
      const proof = hashes.map((hash) => Buffer.from(hash, "base64"));
      expect(isConsistent(from.size, from.rootHash, to.size, to.rootHash, proof)).toBe(true);
    }
  }
});

test("the proof of an entry carries its document, by each checkpoint that covers it", async () => {
  const ledgerId = await service.books.createLedger();
  const first = await postEntry(service, entry(100), ledgerId);
  await readLogAt(ledgerId, 1);
  await post(ledgerId, 300);
  const log = await readLogAt(ledgerId, 301);
  const proofOf = (query: string) => service.get(`${logsOf(ledgerId)}/journal/proof?${query}`);
  for (const size of [1, 301]) {
    const reply = await proofOf(`entryId=${first.journalId}&size=${size}`);
    const proof = verifyTlogProof(reply.text, policyOf(log));
    expect(proof).toMatchObject({ index: 0, checkpoint: { size } });
    const document = JSON.parse(proof.data.toString()) as Parameters<typeof canonicalEntry>[0];
    expect(document.journalId).toBe(first.journalId);
  }
  const { body } = await service.get(`${entries(ledgerId)}?offset=300&limit=1`);
  const [last] = (body as { entries: { journalId: string }[] }).entries;
  expect(
    verifyTlogProof((await proofOf(`entryId=${last?.journalId}`)).text, policyOf(log)).index,
  ).toBe(300);
  expect(problem(await proofOf(`entryId=${last?.journalId}&size=1`))).toMatchObject({
    status: 409,
    code: "NOT_LOGGED_YET",
  });
  expect(problem(await proofOf(`entryId=${last?.journalId}&size=2`))).toMatchObject({
    code: "CHECKPOINT_NOT_FOUND",
  });
  const absent = "0190b6a0-0000-7000-8000-000000000001";
  expect(problem(await proofOf(`entryId=${absent}`))).toMatchObject({ code: "ENTRY_NOT_FOUND" });
  expect(problem(await proofOf("size=1"))).toMatchObject({ status: 400 });
  expect(problem(await proofOf(`closeId=${absent}`))).toMatchObject({ status: 400 });
});

test("a close is in the log of closes right after it", async () => {
  const ledgerId = await service.books.createLedger();
  await post(ledgerId, 2);
  const reply = await service.post(`/v1/ledgers/${ledgerId}/period-closes`, {
    periodId: "2026-01",
  });
  const close = reply.body as Close;
  const log = await readLogAt(ledgerId, 1, "closes");
  const proof = await service.get(`${logsOf(ledgerId)}/closes/proof?closeId=${close.closeId}`);
  const { data } = verifyTlogProof(proof.text, policyOf(log));
  const { closeHash, ...record } = close;
  expect(JSON.parse(data.toString())).toEqual(record);
  await readLogAt(ledgerId, 2);
});

describe("what is refused", () => {
  test.each([
    ["consistency?from=0&to=1", "from"],
    ["consistency?from=2&to=1", "to"],
    ["consistency?from=1&to=2", "to"],
    ["consistency?to=1", "from"],
    ["checkpoint?size=1&cosigned=true", "cosigned"],
  ])("%s", async (target, parameter) => {
    const ledgerId = await service.books.createLedger();
    await post(ledgerId, 1);
    await readLogAt(ledgerId, 1);
    const { status, errors } = problem(await service.get(`${logsOf(ledgerId)}/journal/${target}`));
    expect(status).toBe(400);
    expect(errors).toMatchObject([{ parameter }]);
  });

  test("another log than these two", async () => {
    const ledgerId = await service.books.createLedger();
    expect((await service.get(`${logsOf(ledgerId)}/wallets`)).status).toBe(404);
  });

  test("all of it without a log key", async () => {
    const logs = logsOf(withoutKey.books.ledgerId);
    for (const target of ["journal", "closes/checkpoint", "journal/checkpoints"]) {
      const reply = await withoutKey.get(`${logs}/${target}`);
      expect(problem(reply)).toMatchObject({ status: 404, code: "CHECKPOINT_NOT_FOUND" });
    }
  });
});
