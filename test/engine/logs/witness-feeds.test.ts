// Checkpoints on their way to witnesses that are honest, away, slow or hostile. The logs are in memory, the witnesses are real
// HTTP servers; test/http/witnesses.test.ts has the service with its database.
import { afterEach, expect, it } from "vitest";
import type { LogIdentity } from "../../../src/core/log-origin.ts";
import { formatVerifierKey } from "../../../src/core/note.ts";
import type { FedLogs } from "../../../src/engine/logs/witness-feed.ts";
import { WitnessFeeds } from "../../../src/engine/logs/witness-feeds.ts";
import { TestLog } from "../../support/test-log.ts";
import { until } from "../../support/until.ts";
import { startWitness, type TestWitness } from "../../support/witness.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function witnessNamed(name: string): Promise<TestWitness> {
  const witness = await startWitness(name);
  closing.push(() => witness.close());
  return witness;
}

/** Logs by ledger, in memory, each with all that a table would have. */
class MemoryLogs implements FedLogs {
  readonly logs = new Map<string, { log: TestLog; sizes: number[]; halted: string | null }>();
  readonly cosignatures = new Set<string>();
  /** Reads fail with it where it is set. */
  fault: Error | null = null;

  add(ledgerId: string, leaves: number): LogIdentity {
    const log = new TestLog(`log.example.com/${ledgerId}/journal`).grow(leaves);
    this.logs.set(ledgerId, { log, sizes: [leaves], halted: null });
    return { ledgerId, log: "journal", generation: 1 };
  }

  grow({ ledgerId }: LogIdentity, leaves: number): void {
    const { log, sizes } = this.of(ledgerId);
    sizes.push(log.grow(leaves).leaves.length);
  }

  of(ledgerId: string) {
    const found = this.logs.get(ledgerId);
    if (found === undefined) throw new Error("no such log");
    return found;
  }

  /** Of the newest checkpoint. */
  isCosigned({ ledgerId }: LogIdentity, witness: TestWitness): boolean {
    const size = this.of(ledgerId).sizes.at(-1);
    return this.cosignatures.has(`${ledgerId} ${size} ${formatVerifierKey(witness.key)}`);
  }

  async findNewest({ ledgerId }: LogIdentity, witnessKey: string) {
    if (this.fault !== null) throw this.fault;
    const { log, sizes, halted } = this.of(ledgerId);
    if (halted !== null) return null;
    const { size, note } = log.checkpoint(sizes.at(-1));
    const isCosigned = (one: number) => this.cosignatures.has(`${ledgerId} ${one} ${witnessKey}`);
    return { size, note, cosignedSize: sizes.findLast(isCosigned) ?? 0 };
  }

  async prove({ ledgerId }: LogIdentity, from: number, to: number) {
    return this.of(ledgerId).log.checkpoint(to).proveFrom(from);
  }

  async keepCosignature(
    { ledgerId }: LogIdentity,
    { size, witnessKey }: { size: number; witnessKey: string },
  ) {
    this.cosignatures.add(`${ledgerId} ${size} ${witnessKey}`);
  }

  async halt({ ledgerId }: LogIdentity, reason: string) {
    this.of(ledgerId).halted ??= reason;
  }

  async listUncosigned(witnessKey: string, limit: number) {
    if (this.fault !== null) throw this.fault;
    return [...this.logs]
      .filter(
        ([ledgerId, { sizes, halted }]) =>
          halted === null && !this.cosignatures.has(`${ledgerId} ${sizes.at(-1)} ${witnessKey}`),
      )
      .slice(0, limit)
      .map(([ledgerId]) => ({ ledgerId, log: "journal" as const, generation: 1 }));
  }
}

function feed(
  logs: MemoryLogs,
  witnesses: readonly TestWitness[],
  { lookIntervalMs = 3_600_000, timeoutMs = 1_000 } = {},
) {
  const told: string[] = [];
  const feeds = new WitnessFeeds(logs, witnesses, {
    lookIntervalMs,
    timeoutMs,
    backoffMs: { first: 20, longest: 100 },
    onWitnessFailure: ({ name }, { message }) => told.push(`${name} fails: ${message}`),
    onAnswer: ({ name }) => told.push(`${name} answers`),
    onRefusal: ({ name }, _log, { message }) => told.push(`${name} refuses: ${message}`),
    onHalt: (_log, reason) => told.push(`halted: ${reason}`),
    onFailure: (error) => told.push(`database: ${String(error)}`),
  });
  closing.push(() => feeds.stop());
  return { feeds, told };
}

function trustAll(logs: MemoryLogs, witness: TestWitness): void {
  for (const { log } of logs.logs.values()) witness.trust(log.signer.verifierKey);
}

it("finds what has no cosignature at the start, and brings what is announced", async () => {
  const [one, two] = [await witnessNamed("one"), await witnessNamed("two")];
  const logs = new MemoryLogs();
  const log = logs.add("a", 5);
  trustAll(logs, one);
  trustAll(logs, two);
  const { feeds } = feed(logs, [one, two]);
  feeds.start();
  await until("two cosignatures", () => logs.isCosigned(log, one) && logs.isCosigned(log, two));
  logs.grow(log, 8);
  feeds.announce(log);
  await until("two more", () => logs.isCosigned(log, one) && logs.isCosigned(log, two));
  expect(one.asked.map((line) => line.split(" ")[1])).toEqual(["0", "5"]);
  expect(feeds.all.map(({ counts }) => counts.cosigned)).toEqual([2, 2]);
});

it("submits the newest checkpoint alone, once, however often it was announced", async () => {
  const witness = await witnessNamed("one");
  const logs = new MemoryLogs();
  const log = logs.add("a", 1);
  trustAll(logs, witness);
  const { feeds } = feed(logs, [witness]);
  await witness.goAway();
  for (let count = 0; count < 50; count += 1) {
    logs.grow(log, 1);
    feeds.announce(log);
  }
  const [own] = feeds.all;
  await until("it is away", () => own?.isUp === false);
  expect(own?.waiting).toBe(1);
  await witness.comeBack();
  await until("a cosignature", () => logs.isCosigned(log, witness));
  expect(witness.asked).toEqual([`old 0 ${logs.of("a").log.origin}`]);
  expect(witness.seen(logs.of("a").log.origin)?.size).toBe(51);
});

it("asks a witness that is away less and less, and no other waits for it", async () => {
  const [gone, hanging, honest] = [
    await witnessNamed("gone"),
    await witnessNamed("hanging"),
    await witnessNamed("honest"),
  ];
  const logs = new MemoryLogs();
  const all = Array.from({ length: 200 }, (_, index) => logs.add(`ledger-${index}`, 3));
  for (const witness of [gone, hanging, honest]) trustAll(logs, witness);
  hanging.mode = "hanging";
  await gone.goAway();
  const { feeds, told } = feed(logs, [gone, hanging, honest], { timeoutMs: 300 });
  feeds.start();
  await until("all cosigned", () => all.every((log) => logs.isCosigned(log, honest)));
  await until("failures", () => told.filter((line) => line.startsWith("hanging")).length > 4);
  // Those that began together, and then one at a time.
  expect(hanging.requests.inFlightMax).toBe(4);
  expect(feeds.all.map(({ isUp }) => isUp)).toEqual([false, false, true]);
  expect(feeds.all.map(({ waiting }) => waiting)).toEqual([200, 200, 0]);
  await gone.comeBack();
  hanging.mode = "honest";
  await until("all cosigned", () =>
    all.every((log) => logs.isCosigned(log, gone) && logs.isCosigned(log, hanging)),
  );
  expect(feeds.all.map(({ isUp }) => isUp)).toEqual([true, true, true]);
});

it("has few requests under way, and each log once, with hundreds of ledgers", async () => {
  const witness = await witnessNamed("one");
  const logs = new MemoryLogs();
  for (let index = 0; index < 400; index += 1) logs.add(`ledger-${index}`, 1);
  trustAll(logs, witness);
  const { feeds } = feed(logs, [witness], { timeoutMs: 15_000 });
  feeds.start();
  await until("all cosigned", () => logs.cosignatures.size === 400);
  expect(witness.requests.inFlightMax).toBeLessThanOrEqual(4);
  expect(witness.requests.count).toBe(400);
});

it("leaves a log that a witness does not take, and offers the others", async () => {
  const witness = await witnessNamed("one");
  const logs = new MemoryLogs();
  const known = logs.add("known", 3);
  witness.trust(logs.of("known").log.signer.verifierKey);
  const unknown = Array.from({ length: 20 }, (_, index) => logs.add(`unknown-${index}`, 3));
  const { feeds, told } = feed(logs, [witness]);
  for (const log of unknown) feeds.announce(log);
  feeds.announce(known);
  await until("the known one", () => logs.isCosigned(known, witness));
  for (const log of unknown) feeds.announce(log);
  logs.grow(known, 1);
  feeds.announce(known);
  await until("the known one", () => logs.isCosigned(known, witness));
  expect(feeds.all[0]?.counts).toMatchObject({ refused: 20, cosigned: 2, failed: 0 });
  expect(told.filter((line) => line.includes('refuses: answered 404: "unknown log"'))).toHaveLength(
    20,
  );
});

it("halts a log that the witness has seen otherwise, and says why once", async () => {
  const witness = await witnessNamed("one");
  const logs = new MemoryLogs();
  const [forked, sound] = [logs.add("forked", 4), logs.add("sound", 4)];
  trustAll(logs, witness);
  const { feeds, told } = feed(logs, [witness]);
  feeds.announce(forked);
  await until("a cosignature", () => logs.isCosigned(forked, witness));
  const { log } = logs.of("forked");
  log.leaves.splice(2);
  log.grow(5, "another leaf");
  logs.of("forked").sizes.push(7);
  feeds.announce(forked);
  await until("it halts", () => logs.of("forked").halted);
  feeds.announce(forked);
  feeds.announce(sound);
  await until("the other", () => logs.isCosigned(sound, witness));
  expect(told.filter((line) => line.startsWith("halted"))).toEqual([
    "halted: the witness one refused the checkpoint of size 7 (422): what it has seen, of size 4, is not its beginning",
  ]);
  expect(logs.of("sound").halted).toBeNull();
});

it("halts a log of which a witness has seen more than the newest checkpoint, and only then", async () => {
  const witness = await witnessNamed("one");
  const logs = new MemoryLogs();
  const log = logs.add("a", 9);
  trustAll(logs, witness);
  const { feeds } = feed(logs, [witness]);
  feeds.announce(log);
  await until("a cosignature", () => logs.isCosigned(log, witness));
  // Another server made a checkpoint, and submitted it, since this one read the newest.
  logs.cosignatures.clear();
  const behind = { size: 5, note: logs.of("a").log.checkpoint(5).note, cosignedSize: 0 };
  const findNewest = logs.findNewest.bind(logs);
  logs.findNewest = async () => {
    logs.findNewest = findNewest;
    return behind;
  };
  feeds.announce(log);
  await until("a cosignature", () => logs.isCosigned(log, witness));
  expect(logs.of("a").halted).toBeNull();
  // The database was brought back.
  logs.cosignatures.clear();
  logs.of("a").sizes.splice(0, 2, 5);
  feeds.announce(log);
  expect(await until("it halts", () => logs.of("a").halted)).toBe(
    "the witness one has seen size 9 (409), and the newest checkpoint has size 5",
  );
});

it.each([
  "wrong signature",
  "signature of another key",
  "junk",
  "huge",
  "error",
  "redirect",
  "cut off",
  "dripping",
] as const)("keeps nothing of a witness by %s, and goes on when it is honest", async (mode) => {
  const witness = await witnessNamed("one");
  const logs = new MemoryLogs();
  const log = logs.add("a", 4);
  trustAll(logs, witness);
  witness.mode = mode;
  const { feeds, told } = feed(logs, [witness], { timeoutMs: 300 });
  feeds.announce(log);
  await until("three failures", () => told.length >= 3);
  expect(logs.cosignatures.size).toBe(0);
  expect(logs.of("a").halted).toBeNull();
  witness.mode = "honest";
  await until("a cosignature", () => logs.isCosigned(log, witness));
  expect(told.at(-1)).toBe("one answers");
});

it("looks again for what the database did not tell", async () => {
  const witness = await witnessNamed("one");
  const logs = new MemoryLogs();
  const log = logs.add("a", 4);
  trustAll(logs, witness);
  logs.fault = new Error("the database is away");
  const { feeds, told } = feed(logs, [witness], { lookIntervalMs: 20 });
  feeds.announce(log);
  feeds.start();
  await until("failures", () => told.length >= 3);
  expect(witness.requests.count).toBe(0);
  logs.fault = null;
  await until("a cosignature", () => logs.isCosigned(log, witness));
});

it("stops at once while a witness hangs", async () => {
  const witness = await witnessNamed("one");
  const logs = new MemoryLogs();
  const log = logs.add("a", 4);
  witness.mode = "hanging";
  const { feeds, told } = feed(logs, [witness], { timeoutMs: 3_600_000 });
  feeds.announce(log);
  await until("a request", () => witness.requests.inFlight === 1);
  await feeds.stop();
  expect(told).toEqual([]);
});
