// Signing logs: trees that grow, servers beside each other, and all that halts a log.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { auditLedgers } from "../../src/audit/audit.ts";
import { parseCheckpoint } from "../../src/core/checkpoint.ts";
import { isConsistent } from "../../src/core/merkle.ts";
import { parseVerifierKey } from "../../src/core/note.ts";
import { parseTlogPolicy, policyOfKeys } from "../../src/core/tlog-policy.ts";
import { CheckpointMaker } from "../../src/engine/logs/checkpoint-maker.ts";
import { haltLog, restartLog, resumeLog } from "../../src/engine/logs/halted-logs.ts";
import { LogReader } from "../../src/engine/logs/log-reader.ts";
import type { LogSettings } from "../../src/engine/logs/log-signing.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { SignedCheckpointFiles } from "../../src/store/embedded/signed-checkpoints.ts";
import { verifyCheckpoint } from "../../src/verify/checkpoint.ts";
import { entriesPath, entry } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import { forge } from "../support/tampering.ts";
import { policyOfAbsentWitness } from "../support/witness.ts";

const service = serveBooks();
const settings: LogSettings = { logName: "ledger.example.com", logKeys: [randomBytes(32)] };
let pool: Pool;
let folder: string;

beforeAll(async () => {
  const { databaseUrl } = service.books;
  pool = new Pool({ databaseUrl, connectionsMax: 8, answerTimeoutMs: 60_000 });
  folder = await mkdtemp(join(tmpdir(), "ledgerctl-logs-"));
});

afterAll(async () => {
  await pool.end();
  await rm(folder, { recursive: true });
});

interface Told {
  readonly halts: string[];
  readonly wrong: string[];
}

function makerOf(more: Partial<ConstructorParameters<typeof CheckpointMaker>[1]> = {}) {
  const told: Told = { halts: [], wrong: [] };
  const maker = new CheckpointMaker(pool, {
    ...settings,
    intervalMs: 1,
    signedCheckpoints: null,
    onHalt: (_, reason) => told.halts.push(reason),
    onWrongSettings: (_, reason) => told.wrong.push(reason),
    onFailure: (error) => {
      throw error;
    },
    ...more,
  });
  return { maker, told };
}

const readerOf = (own = settings) =>
  new LogReader(pool, { settings: own, policy: null, intervalMs: 1_000 });

async function post(ledgerId: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 500) {
    const entries = Array.from({ length: Math.min(left, 500) }, () => entry(1));
    const reply = await service.post(`${entriesPath(ledgerId)}/bulk`, { entries, atomic: true });
    expect(reply.status).toBe(201);
  }
}

async function newLedger(count: number) {
  const ledgerId = await service.books.createLedger();
  await post(ledgerId, count);
  return { ledgerId, log: "journal" } as const;
}

const sizeOf = async (log: { ledgerId: string; log: "journal" }, own = settings) =>
  (await readerOf(own).readLog(log)).newest?.size ?? 0;

test("a log that was there before is signed in pieces, and audited", async () => {
  const log = await newLedger(5_000);
  const { maker } = makerOf();
  await maker.signLog(log.ledgerId, "journal");
  const { newest, verifierKey } = await readerOf().readLog(log);
  const policy = policyOfKeys([parseVerifierKey(verifierKey)], []);
  expect(verifyCheckpoint(newest?.note ?? "", policy).size).toBe(5_000);
  const report = await auditLedgers(pool, log.ledgerId);
  expect(report?.checks.find(({ name }) => name === "logs")).toMatchObject({
    ok: true,
    checked: 1,
  });
});

test("many servers make one line of checkpoints, while entries are posted", async () => {
  const log = await newLedger(1);
  const makers = Array.from({ length: 4 }, () => makerOf().maker);
  const posting = post(log.ledgerId, 3_000);
  for (let round = 0; round < 8; round += 1) {
    await Promise.all(makers.map((maker) => maker.signLog(log.ledgerId, "journal")));
  }
  await posting;
  await makers[0]?.signLog(log.ledgerId, "journal");
  const reader = readerOf();
  const page = { limit: 100, offset: 0, origin: null };
  const { checkpoints } = await reader.listCheckpoints(log, page);
  expect(checkpoints.at(-1)?.size).toBe(3_001);
  expect(checkpoints.map(({ number }) => number)).toEqual(checkpoints.map((_, index) => index + 1));
  for (const [index, to] of checkpoints.entries()) {
    const from = checkpoints[index - 1];
    if (from === undefined) continue;
    const proof = await reader.readConsistency(log, from.size, to.size);
    expect(isConsistent(from.size, from.rootHash, to.size, to.rootHash, proof)).toBe(true);
  }
});

test("a policy that demands no cosignature is met by the newest checkpoint", async () => {
  const log = await newLedger(2);
  await makerOf().maker.signLog(log.ledgerId, "journal");
  const [witnessLine = ""] = policyOfAbsentWitness().witnessLines;
  const read = (quorum: string) =>
    new LogReader(pool, {
      settings,
      policy: parseTlogPolicy(Buffer.from(`${witnessLine}\nquorum ${quorum}\n`)),
      intervalMs: 1_000,
    }).readCheckpoint(log, { size: null, isCosigned: true, origin: null });
  expect(await read("none")).toMatchObject({ size: 2 });
  await expect(read("absent")).rejects.toMatchObject({ problem: "checkpointNotFound" });
});

test("a rotated key signs beside the one before, and a server with neither signs nothing", async () => {
  const log = await newLedger(1);
  const [first, second, other] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const withKeys = (logKeys: LogSettings["logKeys"]) => ({ logName: settings.logName, logKeys });
  await makerOf(withKeys([first])).maker.signLog(log.ledgerId, "journal");
  const before = await readerOf(withKeys([first])).readLog(log);
  await post(log.ledgerId, 1);
  const { maker, told } = makerOf(withKeys([other]));
  await maker.signLog(log.ledgerId, "journal");
  expect(told).toEqual({ halts: [], wrong: [expect.stringContaining("LEDGERCTL_LOG_KEY")] });
  expect(await readerOf(withKeys([other])).readLog(log)).toMatchObject({
    newest: { size: 1 },
    halted: expect.stringContaining("LEDGERCTL_LOG_KEY") as string,
  });
  await makerOf(withKeys([second, first])).maker.signLog(log.ledgerId, "journal");
  const after = await readerOf(withKeys([second, first])).readLog(log);
  expect(after).toMatchObject({ newest: { size: 2 }, halted: null, origin: before.origin });
  expect(after.verifierKey).not.toBe(before.verifierKey);
  for (const { verifierKey } of [before, after]) {
    const policy = policyOfKeys([parseVerifierKey(verifierKey)], []);
    expect(verifyCheckpoint(after.newest?.note ?? "", policy).size).toBe(2);
  }
  await post(log.ledgerId, 1);
  const renamed = makerOf({ logName: "other.example.com", logKeys: [second] });
  await renamed.maker.signLog(log.ledgerId, "journal");
  expect(renamed.told.wrong).toEqual([expect.stringContaining("LEDGERCTL_LOG_NAME")]);
});

test.each([
  ["system_identifier", "'1'", "database system 1"],
  ["timeline", "'0000000F'", "timeline 0000000F"],
])("another %s halts a log until it is resumed", async (column, value, reason) => {
  const log = await newLedger(1);
  const { maker, told } = makerOf();
  await maker.signLog(log.ledgerId, "journal");
  await forge(
    service.books,
    `UPDATE log_states SET ${column} = ${value} WHERE ledger_id = '${log.ledgerId}'`,
  );
  await post(log.ledgerId, 1);
  await maker.signLog(log.ledgerId, "journal");
  await maker.signLog(log.ledgerId, "journal");
  expect(told.halts).toEqual([expect.stringContaining(reason)]);
  expect(await readerOf().readLog(log)).toMatchObject({
    newest: { size: 1 },
    halted: expect.stringContaining(reason) as string,
  });
  const refuse = () => Promise.reject(new Error("a witness has more"));
  await expect(resumeLog(pool, log, refuse)).rejects.toThrow("a witness has more");
  expect(await resumeLog(pool, log, async () => undefined)).toBe(true);
  expect(await resumeLog(pool, log, async () => undefined)).toBe(false);
  await maker.signLog(log.ledgerId, "journal");
  expect(await sizeOf(log)).toBe(2);
});

test("a log that is begun anew has another origin and key, and keeps what it showed", async () => {
  const log = await newLedger(300);
  const { maker } = makerOf();
  await maker.signLog(log.ledgerId, "journal");
  const before = await readerOf().readLog(log);
  const identity = { ...log, generation: 1 };
  await haltLog(pool, identity, "a witness saw another root");
  await haltLog(pool, identity, "a later reason");
  expect((await readerOf().readLog(log)).halted).toBe("a witness saw another root");
  expect(await restartLog(pool, log)).toBe(2);
  await post(log.ledgerId, 1);
  await maker.signLog(log.ledgerId, "journal");
  const after = await readerOf().readLog(log);
  expect(after.origin).toBe(`${before.origin}.2`);
  expect(after.verifierKey).not.toBe(before.verifierKey);
  expect(after.origins).toEqual([
    { origin: before.origin, verifierKey: before.verifierKey },
    { origin: after.origin, verifierKey: after.verifierKey },
  ]);
  const choice = { size: null, isCosigned: false, origin: before.origin };
  const old = await readerOf().readCheckpoint(log, choice);
  expect(old.note).toBe(before.newest?.note);
  const proof = await readerOf().readConsistency(log, 300, 301);
  const [from, to] = [old.note, after.newest?.note ?? ""].map((note) =>
    parseCheckpoint(note.slice(0, note.indexOf("\n\n") + 1)),
  );
  if (from === undefined || to === undefined) throw new Error("both were signed");
  expect(isConsistent(300, from.rootHash, 301, to.rootHash, proof)).toBe(true);
  const report = await auditLedgers(pool, log.ledgerId);
  expect(report?.checks.find(({ name }) => name === "logs")).toMatchObject({ ok: true });
});

test("a database that lacks what was signed last is found by the file beside the key", async () => {
  const log = await newLedger(2);
  const signedCheckpoints = new SignedCheckpointFiles(folder);
  const { maker, told } = makerOf({ signedCheckpoints });
  await maker.signLog(log.ledgerId, "journal");
  const kept = await signedCheckpoints.read(log.ledgerId, "journal");
  expect(kept?.size).toBe(2);
  // A commit that failed after the file was written: the next checkpoint begins with it.
  await post(log.ledgerId, 2);
  await maker.signLog(log.ledgerId, "journal");
  await forge(
    service.books,
    `DELETE FROM log_checkpoints WHERE ledger_id = '${log.ledgerId}' AND size = 4`,
    `UPDATE log_heads SET signed_size = 2, checkpoint_count = 1 WHERE ledger_id = '${log.ledgerId}'`,
  );
  await maker.signLog(log.ledgerId, "journal");
  expect(told.halts).toEqual([]);
  expect(await sizeOf(log)).toBe(4);
  // Something was signed that the database never had.
  const other = { origin: kept?.origin ?? "", size: 5, rootHash: Buffer.alloc(32) };
  await signedCheckpoints.write(log.ledgerId, "journal", other);
  await post(log.ledgerId, 3);
  await maker.signLog(log.ledgerId, "journal");
  expect(told.halts).toEqual([expect.stringContaining("a checkpoint of 5 leaves was signed")]);
  expect(await sizeOf(log)).toBe(4);
});
