// Witnesses of a service: real HTTP servers that get its checkpoints. What is shown has their cosignatures; nothing waits for
// one that is away; a log that one has seen otherwise halts.
import { randomBytes } from "node:crypto";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatCheckpoint, parseCheckpoint } from "../../src/core/checkpoint.ts";
import { formatOrigin, logSigner } from "../../src/core/log-origin.ts";
import { hashLeaf, rootOf } from "../../src/core/merkle.ts";
import { formatVerifierKey, parseNote, parseVerifierKey } from "../../src/core/note.ts";
import { parseTlogPolicy, type TlogPolicy } from "../../src/core/tlog-policy.ts";
import { haltLog } from "../../src/engine/logs/halted-logs.ts";
import { listWitnessObjections } from "../../src/engine/logs/witness-objections.ts";
import { WitnessConnection } from "../../src/engine/logs/witness-request.ts";
import { verifyCheckpoint } from "../../src/verify/checkpoint.ts";
import { formatNote } from "../support/format-note.ts";
import { sampleOf } from "../support/metrics.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { startWitness, type TestWitness } from "../support/witness.ts";

const logKey = randomBytes(32);
const logName = "ledger.example.com";
const lines: Record<string, unknown>[] = [];
const destination = new Writable({
  write(chunk: Buffer, _encoding, done) {
    lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
    done();
  },
});

let books: TestBooks;
let service: TestService;
let first: TestWitness;
let second: TestWitness;

const start = () =>
  startService(books, {
    log: pino({ level: "warn" }, destination),
    logPolicy: policyOf(),
    variables: {
      LEDGERCTL_LOG_KEY: logKey.toString("base64"),
      LEDGERCTL_LOG_NAME: logName,
      LEDGERCTL_CHECKPOINT_INTERVAL_MS: "50",
    },
  });

beforeAll(async () => {
  [first, second] = [await startWitness("first"), await startWitness("second")];
  books = await createBooks();
  service = await start();
});

afterAll(async () => {
  await service.stop();
  await books.drop();
  await Promise.all([first.close(), second.close()]);
});

interface Log {
  readonly size: number;
  readonly checkpoint: string | null;
  readonly cosigners: readonly string[];
  readonly halted: string | null;
}

/** A ledger whose logs both witnesses know. */
async function newLedger() {
  const ledgerId = await books.createLedger();
  const signerOf = (log: "journal" | "closes") =>
    logSigner(logKey, formatOrigin(logName, { ledgerId, log, generation: 1 }));
  const signers = [signerOf("journal"), signerOf("closes")] as const;
  for (const { verifierKey } of signers) {
    first.trust(verifierKey);
    second.trust(verifierKey);
  }
  const target = `/v1/ledgers/${ledgerId}`;
  const [journal] = signers;
  return {
    ledgerId,
    target,
    signer: journal,
    origin: journal.verifierKey.name,
    post: async (by = service) => {
      const reply = await by.post(`${target}/journal-entries`, {
        transactionDate: "2026-01-15T00:00:00Z",
        lines: [
          { glAccountCode: "1000", functionalAmount: "5" },
          { glAccountCode: "4000", functionalAmount: "-5" },
        ],
      });
      expect(reply.status).toBe(201);
    },
    read: async (log = "journal") => (await service.get(`${target}/logs/${log}`)).body as Log,
  };
}

type Ledger = Awaited<ReturnType<typeof newLedger>>;

/** The log once its newest checkpoint has so many leaves and these cosigners. */
function cosigned(ledger: Ledger, size: number, names = ["first", "second"], log = "journal") {
  return until(`${size} leaves, cosigned by ${names.join(", ")}`, async () => {
    const found = await ledger.read(log);
    return found.size === size && names.every((name) => found.cosigners.includes(name)) && found;
  });
}

/** Both witnesses have to cosign. */
function policyOf(logLines = ""): TlogPolicy {
  const witnesses = `${first.policyLine}\n${second.policyLine}\n`;
  return parseTlogPolicy(
    Buffer.from(`${logLines}${witnesses}group both all first second\nquorum both\n`),
  );
}

/** Shows a witness another tree of so many leaves, which the log's key signed. */
async function showFork(witness: TestWitness, { origin, signer }: Ledger, size: number) {
  const leaves = Array.from({ length: size }, (_, index) => hashLeaf(`forged ${index}`));
  const text = formatCheckpoint({ origin, size, rootHash: rootOf(leaves) });
  const note = formatNote({ text, signatures: [signer.sign(text)] });
  const connection = new WitnessConnection(witness);
  const answer = await connection.addCheckpoint({ oldSize: 0, proof: [], note });
  expect(answer.outcome).toBe("cosigned");
  await connection.close();
}

const linesAbout = (witness: string) => lines.filter((line) => line["witness"] === witness);
const metrics = async () => (await service.send({ target: "/metrics", credentials: null })).text;

test("checkpoints travel with the cosignatures of both witnesses", async () => {
  const ledger = await newLedger();
  await ledger.post();
  const { checkpoint } = await cosigned(ledger, 1);
  const verified = verifyCheckpoint(
    checkpoint ?? "",
    policyOf(`log ${formatVerifierKey(ledger.signer.verifierKey)}\n`),
  );
  expect(verified.signers.map(({ name }) => name)).toEqual([ledger.origin, "first", "second"]);
  await ledger.post();
  await ledger.post();
  await until("three leaves", async () => (await ledger.read()).size === 3);
  await cosigned(ledger, 3);
  const newest = await service.get(`${ledger.target}/logs/journal/checkpoint?cosigned=true`);
  expect(parseCheckpoint(parseNote(newest.text).text).size).toBe(3);
  const text = await metrics();
  expect(sampleOf(text, "ledgerctl_witness_up", { witness: "first" })).toBe(1);
  const submitted = { witness: "first", outcome: "cosigned" };
  expect(sampleOf(text, "ledgerctl_witness_submissions_total", submitted)).toBeGreaterThan(1);
});

test("a close is cosigned in both logs", async () => {
  const ledger = await newLedger();
  await ledger.post();
  const reply = await service.post(`${ledger.target}/period-closes`, { periodId: "2026-01" });
  expect(reply.status).toBe(201);
  await cosigned(ledger, 1, ["first", "second"], "closes");
  await cosigned(ledger, 1);
});

test("a witness that is away delays nothing, is told of once, and gets the newest when it is back", async () => {
  const ledger = await newLedger();
  await second.goAway();
  for (let size = 1; size <= 5; size += 1) {
    await ledger.post();
    await cosigned(ledger, size, ["first"]);
  }
  expect((await ledger.read()).cosigners).toEqual(["first"]);
  await until("two failures", async () => {
    const failed = { witness: "second", outcome: "failed" };
    return (sampleOf(await metrics(), "ledgerctl_witness_submissions_total", failed) ?? 0) > 1;
  });
  expect(linesAbout("second")).toMatchObject([
    { level: 40, msg: "a witness does not cosign; it is tried again" },
  ]);
  const text = await metrics();
  expect(sampleOf(text, "ledgerctl_witness_up", { witness: "second" })).toBe(0);
  expect(sampleOf(text, "ledgerctl_witness_waiting_logs", { witness: "second" })).toBe(1);
  await second.comeBack();
  await cosigned(ledger, 5);
  expect(linesAbout("second").slice(1)).toMatchObject([{ msg: "a witness answers again" }]);
  // Of the five, it was asked for the newest alone.
  expect(second.asked.filter((line) => line.endsWith(ledger.origin))).toEqual([
    `old 0 ${ledger.origin}`,
  ]);
});

test("a witness that hangs delays nothing", async () => {
  const ledger = await newLedger();
  second.mode = "hanging";
  for (let size = 1; size <= 3; size += 1) {
    await ledger.post();
    await cosigned(ledger, size, ["first"]);
  }
  // It is cut off by whoever stops the service, and another one begins anew.
  await service.stop();
  second.mode = "honest";
  service = await start();
  await cosigned(ledger, 3);
});

test("two servers feed the witnesses of one log", async () => {
  const ledger = await newLedger();
  const other = await start();
  for (let round = 0; round < 10; round += 1) {
    await Promise.all([ledger.post(), ledger.post(other)]);
  }
  const { halted } = await cosigned(ledger, 20);
  expect(halted).toBeNull();
  await other.stop();
});

test("a log that a witness has seen otherwise halts, and no other", async () => {
  const [ledger, sound] = [await newLedger(), await newLedger()];
  await showFork(second, ledger, 2);
  for (let count = 0; count < 3; count += 1) await ledger.post();
  const reason = await until("it halts", async () => (await ledger.read()).halted);
  expect(reason).toMatch(
    /^the witness second (refused the checkpoint of size [23] \(422\)|has seen size 2 \(409\))/,
  );
  expect(lines.filter((line) => line["ledgerId"] === ledger.ledgerId)).toMatchObject([
    { level: 50, log: "journal", reason },
  ]);
  expect(sampleOf(await metrics(), "ledgerctl_logs_halted")).toBe(1);
  const { size } = await ledger.read();
  // Writes go on; nothing is signed.
  await ledger.post();
  await sound.post();
  await cosigned(sound, 1);
  expect((await ledger.read()).size).toBe(size);
});

test("a log of which a witness has seen more than is there halts", async () => {
  const ledger = await newLedger();
  await showFork(first, ledger, 9);
  await ledger.post();
  const reason = await until("it halts", async () => (await ledger.read()).halted);
  expect(reason).toBe(
    "the witness first has seen size 9 (409), and the newest checkpoint has size 1",
  );
});

test("cosignatures of a witness that lies are not kept", async () => {
  const ledger = await newLedger();
  second.mode = "wrong signature";
  await ledger.post();
  await cosigned(ledger, 1, ["first"]);
  await until("it is told", () =>
    String(linesAbout("second").at(-1)?.["cause"]).includes("does not hold"),
  );
  expect((await ledger.read()).cosigners).toEqual(["first"]);
  second.mode = "honest";
  const { checkpoint } = await cosigned(ledger, 1);
  expect(parseNote(checkpoint ?? "").signatures.map(({ name }) => name)).toContain("second");
  expect(parseVerifierKey(formatVerifierKey(second.key))).toEqual(second.key);
});

test("a halted log is resumed only where each witness agrees", async () => {
  const ledger = await newLedger();
  await ledger.post();
  await cosigned(ledger, 1);
  const identity = { ledgerId: ledger.ledgerId, log: "journal", generation: 1 } as const;
  const ask = () => listWitnessObjections(books.pool, identity, [first, second]);
  await haltLog(books.pool, identity, "a backup was restored");
  expect(await ask()).toEqual([]);
  await second.goAway();
  expect(await ask()).toEqual([
    expect.stringContaining("the witness second can't be asked: connect ECONNREFUSED"),
  ]);
  await second.comeBack();
  first.forget(ledger.origin);
  second.forget(ledger.origin);
  await showFork(first, ledger, 1);
  await showFork(second, ledger, 4);
  expect(await ask()).toEqual([
    "the witness first has seen another tree: what it has, of size 1, is not the beginning of the newest checkpoint",
    "the witness second has seen size 4, and the newest checkpoint in the database has size 1",
  ]);
});
