// The logs of a ledger from the shell: an outsider takes keys and proofs, and holds the operator to what was shown.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LogKind } from "../../src/core/log-origin.ts";
import { haltLog, restartLog } from "../../src/engine/logs/halted-logs.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, startCli, type CliResult } from "../support/cli.ts";
import { isCluster } from "../support/cluster.ts";
import { runStatement, withDatabase } from "../support/database.ts";
import { entry } from "../support/entries.ts";
import { offlineGuard } from "../support/offline-guard.ts";
import { runHere } from "../support/program.ts";
import { hasPython } from "../support/python.ts";
import { rewriteEntry, shortenJournal } from "../support/rewritten-journal.ts";
import { TestScreen } from "../support/screen.ts";
import { forge } from "../support/tampering.ts";
import { startServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const variables = {
  LEDGERCTL_LOG_KEY: randomBytes(32).toString("base64"),
  LEDGERCTL_LOG_NAME: "ledger.example.com",
  LEDGERCTL_CHECKPOINT_INTERVAL_MS: "50",
};
let server: BinaryServer;
let folder: string;

beforeAll(async () => {
  server = await startBinaryServer(variables);
  folder = mkdtempSync(join(server.home, "log-"));
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

const run = (...args: string[]): Promise<CliResult> => runHere(args, server.env);

let names = 0;
const newFile = (name: string) => join(folder, `${(names += 1)}-${name}`);

/** Posts entries of the open month 2026-05, and waits until a checkpoint covers them. */
async function post(ledgerId: string, count: number): Promise<string[]> {
  const bodies = Array.from({ length: count }, () =>
    entry(500, { transactionDate: "2026-05-15T00:00:00Z", description: "Sale" }),
  );
  const receipts = await server.client.postAtomicEntries(ledgerId, bodies);
  await signed(ledgerId, "journal");
  return receipts.map(({ journalId }) => journalId);
}

/** Waits for the checkpoint over everything in a log. */
async function signed(ledgerId: string, log: LogKind): Promise<void> {
  const { client } = server;
  await until("a checkpoint over everything", async () => {
    const { total } =
      log === "journal"
        ? await client.listEntries(ledgerId, { limit: 1 })
        : await client.listCloses(ledgerId, { limit: 1 });
    return (await client.getLog(ledgerId, log)).size === total;
  });
}

/** A ledger of its own with a journal of so many entries, and somebody who watches it. */
async function watchedLedger(count: number) {
  const ledgerId = await server.books.createLedger();
  const ids = await post(ledgerId, count);
  const { verifierKey } = await server.client.getLog(ledgerId, "journal");
  const state = newFile("journal.state");
  const watch = (...args: string[]) =>
    run("log", "watch", "--ledger", ledgerId, "--state", state, "--once", ...args);
  const key = ["--verifier-key", verifierKey];
  expect(await watch(...key)).toMatchObject({ code: 0, stderr: "" });
  return { ledgerId, ids, state, watch, key, seen: readFileSync(state, "utf8") };
}

type Watched = Awaited<ReturnType<typeof watchedLedger>>;

/** The watcher found out: exit code 3, both notes kept, the state file as it was. */
async function expectConflict({ watch, key, state, seen, ledgerId }: Watched, message: RegExp) {
  const { code, stdout, stderr } = await watch(...key, "--json");
  expect(stderr).toMatch(message);
  expect(stderr).toContain(`log journal of ledger ${ledgerId}: `);
  expect(stderr).toContain("Nothing good has two histories: keep the state file");
  expect(code).toBe(3);
  expect(readFileSync(state, "utf8")).toBe(seen);
  const [document] = documents<Record<string, unknown>>(stdout);
  expect(document).toMatchObject({ ok: false, finding: expect.stringMatching(message) as string });
  const path = document?.["conflict"] as string;
  expect(path.startsWith(`${state}.conflict-`)).toBe(true);
  const evidence = readFileSync(path, "utf8");
  expect(evidence).toContain(seen);
  expect(evidence).toContain(await server.client.getCheckpoint(ledgerId, "journal"));
  // Found again, it is not kept twice.
  expect((await watch(...key)).code).toBe(3);
  const kept = readdirSync(folder).filter((name) =>
    join(folder, name).startsWith(`${state}.conflict-`),
  );
  expect(kept).toHaveLength(1);
}

describe("keys, checkpoints and proofs", () => {
  it("lead from the service to a verdict that needs nothing but files", async () => {
    const { ledgerId } = server;
    const bodies = [1, 2, 3].map((day) =>
      entry(100 + day, { transactionDate: `2026-03-0${day}T00:00:00Z` }),
    );
    const [, second] = await server.client.postAtomicEntries(ledgerId, bodies);
    await server.client.closePeriod(ledgerId, { periodId: "2026-03" });
    await Promise.all([signed(ledgerId, "journal"), signed(ledgerId, "closes")]);
    const keys = (await run("log", "key")).stdout.trim().split("\n");
    expect(keys.map((key) => key.split("+")[0])).toEqual([
      `ledger.example.com/${ledgerId}/journal`,
      `ledger.example.com/${ledgerId}/closes`,
    ]);
    expect(documents((await run("log", "key", "closes", "--json")).stdout)).toEqual([
      { origin: `ledger.example.com/${ledgerId}/closes`, verifierKey: keys[1] },
    ]);
    const policy = newFile("policy");
    writeFileSync(policy, (await run("log", "key", "--policy")).stdout);
    expect(readFileSync(policy, "utf8")).toBe(
      `log ${keys[0] ?? ""}\nlog ${keys[1] ?? ""}\nquorum none\n`,
    );

    const files = ["note", "entry.tlog-proof", "close.tlog-proof"].map(newFile);
    const [note = "", entryProof = "", closeProof = ""] = files;
    expect((await run("log", "checkpoint", "--out", note)).code).toBe(0);
    // Into a pipe it is the same, byte for byte.
    expect((await runCli(["log", "checkpoint"], server)).stdout).toBe(readFileSync(note, "utf8"));
    const id = second?.journalId ?? "";
    expect((await run("log", "prove", id.toUpperCase(), "--out", entryProof)).code).toBe(0);
    expect((await run("log", "prove", id)).stdout).toBe(readFileSync(entryProof, "utf8"));
    expect((await run("log", "prove", "--close", "2026-03", "--out", closeProof)).code).toBe(0);

    const guard = join(folder, "guard.cjs");
    writeFileSync(guard, offlineGuard);
    const verified = await runCli(["log", "verify", ...files, "--policy", policy], {
      env: {
        LEDGERCTL_CONFIG: join(folder, "config.json"),
        LEDGERCTL_URL: "not a url",
        LEDGERCTL_DATABASE_URL: "not a database",
        NODE_OPTIONS: `--require ${guard}`,
      },
    });
    expect(verified.stderr).toBe("");
    expect(verified.stdout).toContain(id);
    expect(verified.stdout).toContain('period       "2026-03"');
    expect(verified.stdout).toContain("verified: 3 files, ");
    expect(verified.code).toBe(0);

    const shown = await run("log", "show", "closes");
    expect(shown.stdout).toMatch(/^size +1$/m);
    const bundle = newFile("2026-03.ndjson");
    expect((await run("bundle", "2026-03", "--out", bundle, "--with-proof")).code).toBe(0);
    expect(readFileSync(`${bundle}.tlog-proof`, "utf8")).toBe(readFileSync(closeProof, "utf8"));
    const piped = await run("bundle", "2026-03", "--out", "-", "--with-proof");
    expect([piped.code, piped.stdout]).toEqual([2, ""]);
  });

  it("can be had as JSON", async () => {
    const ledgerId = await server.books.createLedger();
    const [id = ""] = await post(ledgerId, 2);
    const of = ["--ledger", ledgerId];
    const size = await run("log", "checkpoint", "--jq", ".size", ...of);
    expect(size).toMatchObject({ code: 0, stdout: "2\n", stderr: "" });
    const proof = await run("log", "prove", id, "--jq", '.proof | split("\n")[0]', ...of);
    expect(proof).toMatchObject({ code: 0, stderr: "" });
    expect(proof.stdout).toContain("c2sp.org/tlog-proof@v1");
  });

  it("of earlier sizes can be had, and not of others", async () => {
    const ledgerId = await server.books.createLedger();
    const ledger = ["--ledger", ledgerId];
    expect((await run("log", "show", ...ledger)).stdout).toMatch(/no checkpoint yet/);
    expect((await run("log", "checkpoint", ...ledger)).code).toBe(5);
    const [first = ""] = await post(ledgerId, 2);
    const [third = ""] = await post(ledgerId, 1);
    const size = await run("log", "checkpoint", "--size", "2", ...ledger);
    expect(size.stdout).toContain("\n2\n");
    expect((await run("log", "prove", first, "--size", "2", ...ledger)).stdout).toContain("\n2\n");
    const early = await run("log", "prove", third, "--size", "2", ...ledger);
    expect([early.code, early.stderr]).toEqual([6, expect.stringContaining("Leave --size out")]);
    expect((await run("log", "checkpoint", "--size", "9", ...ledger)).code).toBe(5);
    for (const wrong of [
      ["checkpoint", "--size", "0"],
      ["checkpoint", "--size", "2", "--cosigned"],
      ["checkpoint", "journals"],
      ["prove"],
      ["prove", first, "--close", "2026-03"],
      ["watch", "--state", newFile("state"), "--once", "--interval", "90d"],
    ]) {
      expect((await run("log", ...wrong, ...ledger)).code, wrong.join(" ")).toBe(2);
    }
    expect((await run("log", "prove", ledgerId, ...ledger)).code).toBe(5);
    expect((await run("log", "prove", "--close", "2026-03", ...ledger)).code).toBe(5);
  });

  it("of what is not logged yet are waited for, and then it is said how to go on", async () => {
    const ledgerId = await server.books.createLedger();
    await post(ledgerId, 1);
    await haltLog(server.books.pool, { ledgerId, log: "journal", generation: 1 }, "for a test");
    const [{ journalId } = { journalId: "" }] = await server.client.postAtomicEntries(ledgerId, [
      entry(1),
    ]);
    const { code, stderr } = await run("log", "prove", journalId, "--ledger", ledgerId);
    expect(stderr).toContain("The next checkpoint is due within 1 s: run this again then.");
    expect(code).toBe(6);
    expect((await run("log", "show", "--ledger", ledgerId)).stdout).toMatch(
      /^HALTED +for a test$/m,
    );
    const doctor = await run("doctor", "--ledger", ledgerId);
    expect(doctor.stdout).toContain("the log journal is halted: for a test");
    expect(doctor.code).toBe(1);
    const watched = await run(
      ...["log", "watch", "--once", "--ledger", ledgerId, "--state", newFile("state"), "--json"],
    );
    expect(watched.stderr).toContain("the log is halted, and signs nothing: for a test");
    expect(JSON.parse(watched.stdout)).toMatchObject({ ok: true, halted: "for a test" });
  });
});

describe("log watch", () => {
  it("keeps the newest checkpoint, a line a check, and says nothing with --quiet", async () => {
    const { ledgerId, watch, key, state, seen } = await watchedLedger(2);
    expect(seen).toBe(await server.client.getCheckpoint(ledgerId, "journal"));
    await post(ledgerId, 3);
    const grown = await watch(...key);
    expect(grown.stdout).toMatch(/size 5 {2}3 more {2}root [0-9a-f]{64}\n$/);
    const newest = await server.client.getCheckpoint(ledgerId, "journal");
    expect(readFileSync(state, "utf8")).toBe(newest);
    expect(await watch(...key, "--quiet")).toEqual({ code: 0, stdout: "", stderr: "" });
    const [document] = documents((await watch(...key, "--json")).stdout);
    expect(document).toMatchObject({ ok: true, size: 5, previousSize: 5, conflict: null });
    if (!hasPython) return;
    const args = ["log", "watch", "--ledger", ledgerId, "--state", state, "--once", ...key];
    const screen = new TestScreen(args, server.env, [80, 24]);
    expect((await screen.ended()).code).toBe(0);
    const lines = screen.printed.split("\r\n");
    expect(lines.map((line) => line.replace(/\S{24,}/, "…"))).toEqual([
      "…",
      "  …",
      ...["  size 5", "  0 more", "  root …", ""],
    ]);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(80);
  });

  it("trusts on first use the key that the server says, loudly, and from then on no other", async () => {
    const ledgerId = await server.books.createLedger();
    await post(ledgerId, 2);
    const state = newFile("state");
    const watch = (id: string) => run("log", "watch", "--ledger", id, "--state", state, "--once");
    const first = await watch(ledgerId);
    const { verifierKey } = await server.client.getLog(ledgerId, "journal");
    expect(first.stderr).toContain(
      `TRUSTED WITHOUT PROOF is the key that the server says: ${verifierKey}`,
    );
    expect(first.code).toBe(0);
    expect(await watch(ledgerId)).toMatchObject({ code: 0, stderr: "" });
    const other = await watch(server.ledgerId);
    expect([other.code, other.stderr]).toEqual([
      3,
      expect.stringContaining("does not hold any more"),
    ]);
  });

  it("says which state file was changed, and leaves it as it is", async () => {
    const { ledgerId, watch, key, state, seen } = await watchedLedger(2);
    writeFileSync(state, seen.replace("\n2\n", "\n1\n"));
    const { code, stderr } = await watch(...key);
    const named = `log journal of ledger ${ledgerId}: ${state}, the last note`;
    expect([code, stderr]).toEqual([3, expect.stringContaining(named)]);
    expect(stderr).toContain("\n  Put the file back as it was. ");
    expect(readFileSync(state, "utf8")).not.toBe(seen);
    writeFileSync(state, "");
    expect((await watch(...key)).code).toBe(3);
    rmSync(state);
    expect((await run("log", "watch", "--state", folder, "--once", ...key)).code).toBe(2);
  });

  it("ends with the usual exit codes where there is nobody, or nothing to see", async () => {
    const { state, watch, key, seen } = await watchedLedger(1);
    expect((await watch(...key, "--url", "http://127.0.0.1:1")).code).toBe(7);
    expect(readFileSync(state, "utf8")).toBe(seen);
    const ledgerId = await server.books.createLedger();
    const fresh = newFile("state");
    const empty = await run(
      "log",
      "watch",
      "--once",
      "--ledger",
      ledgerId,
      "--state",
      fresh,
      ...key,
    );
    expect([empty.code, empty.stderr]).toEqual([
      5,
      `ledgerctl: log journal of ledger ${ledgerId}: the log has no checkpoint yet\n` +
        "  Its first one comes right after the first entry, or close, that is in it. Without --once this command waits for it.\n",
    ]);
    const asked = await run("log", "checkpoint", "--ledger", ledgerId);
    expect([asked.code, asked.stderr]).toEqual([
      5,
      expect.stringContaining(`\`ledgerctl log show journal --ledger ${ledgerId}\` shows`),
    ]);
    expect(existsSync(fresh)).toBe(false);
  });

  it("goes on until it is interrupted, also while the server is away", async () => {
    const { ledgerId, state, key } = await watchedLedger(1);
    const args = [
      "log",
      "watch",
      "--ledger",
      ledgerId,
      "--state",
      state,
      "--interval",
      "1s",
      ...key,
    ];
    const { child, result } = startCli([...args, "--json"], server);
    let [stdout, stderr] = ["", ""];
    child.stdout?.on("data", (text: string) => (stdout += text));
    child.stderr?.on("data", (text: string) => (stderr += text));
    await until("a first check", () => documents(stdout).length >= 1);
    await server.restart(async () => {
      await until("a check that failed", () => stderr.includes("; trying again"));
    });
    await post(ledgerId, 2);
    await until("a check that found more", () => stdout.includes('"size":3'));
    child.kill("SIGINT");
    expect((await result).code).toBe(130);
    expect(readFileSync(state, "utf8")).toContain("\n3\n");
  });
});

describe("an operator is found out who", () => {
  it("rewrites an entry of an open month, with everything that follows from it", async () => {
    const watched = await watchedLedger(600);
    const { ledgerId, ids } = watched;
    await rewriteEntry(server, ledgerId, ids[2] ?? "");
    await post(ledgerId, 1);
    await expectConflict(watched, /the log forked: its 601 leaves do not begin with the 600/);
  });

  it("rewrites an entry and nothing else, by whoever asks for its proof", async () => {
    const { ledgerId, ids, watch, key } = await watchedLedger(3);
    await forge(
      server.books,
      `UPDATE journal_lines SET functional_amount = 2 * functional_amount,
         transaction_amount = 2 * transaction_amount WHERE ledger_id = '${ledgerId}' AND sequence = 2`,
    );
    // Checkpoints are made of leaves, which are as they were.
    expect((await watch(...key)).code).toBe(0);
    const out = newFile("tlog-proof");
    const prove = (id: string) => run("log", "prove", id, "--ledger", ledgerId, "--out", out);
    const { code, stderr } = await prove(ids[1] ?? "");
    expect(stderr).toMatch(/the service's proof does not hold: the record at index 1 leads to/);
    expect(stderr).toMatch(/Keep the checkpoints and proofs that you have/);
    expect(code).toBe(3);
    expect(existsSync(out)).toBe(false);
    expect((await prove(ids[2] ?? "")).code).toBe(0);
  });

  it("shortens the journal, and makes another of it", async () => {
    const watched = await watchedLedger(5);
    const { ledgerId } = watched;
    await post(ledgerId, 3);
    expect((await watched.watch(...watched.key)).code).toBe(0);
    const longer = { ...watched, seen: readFileSync(watched.state, "utf8") };
    await shortenJournal(server, ledgerId, 5);
    await expectConflict(longer, /the log shrank from 8 leaves to 5/);
    rmSync(`${watched.state}.conflict`, { force: true });
    for (const name of readdirSync(folder)) {
      if (name.includes(".conflict-")) rmSync(join(folder, name));
    }
    await post(ledgerId, 3);
    await expectConflict(longer, /the log forked: it has two roots over 8 leaves/);
  });
});

describe("a log that was begun anew", () => {
  const anew = async ({ ledgerId }: Watched) => {
    await restartLog(server.books.pool, { ledgerId, log: "journal" });
    await signed(ledgerId, "journal");
  };

  it("is followed to its new key, and the restart is told", async () => {
    const watched = await watchedLedger(3);
    const { ledgerId, watch, key } = watched;
    await anew(watched);
    await post(ledgerId, 2);
    const { code, stdout, stderr } = await watch(...key, "--json");
    const { origin, verifierKey } = await server.client.getLog(ledgerId, "journal");
    expect(stderr).toContain(`/journal is ${origin} now, and begins with what was seen before`);
    expect(stderr).toContain(verifierKey);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, origin, size: 5 });
    expect(code).toBe(0);
    const policy = newFile("policy");
    writeFileSync(
      policy,
      (await run("log", "key", "journal", "--policy", "--ledger", ledgerId)).stdout,
    );
    expect(readFileSync(policy, "utf8").match(/^log /gm)).toHaveLength(2);
    expect(await watch("--policy", policy)).toMatchObject({ code: 0, stderr: "" });
    const earlier = origin.replace(/\.2$/, "");
    const note = await run("log", "checkpoint", "--origin", earlier, "--ledger", ledgerId);
    expect(note.stdout.startsWith(`${earlier}\n3\n`)).toBe(true);
  });

  it("is refused where it does not begin with what was seen", async () => {
    const watched = await watchedLedger(3);
    await rewriteEntry(server, watched.ledgerId, watched.ids[1] ?? "");
    await anew(watched);
    await expectConflict(watched, /the log forked: it has two roots over 3 leaves/);
  });
});

// At the end: connections to a database that is copied are cut. PostgreSQL copies one database, and not that of each node.
describe.skipIf(isCluster)("two servers on two copies of the database", () => {
  it("are found out", async () => {
    const watched = await watchedLedger(3);
    const { ledgerId } = watched;
    const copy = `${new URL(server.books.databaseUrl).pathname.slice(1)}_copy`;
    const original = new URL(server.books.databaseUrl).pathname.slice(1);
    const elsewhere = withDatabase(server.books.databaseUrl, "postgres");
    await server.restart(async () => {
      await runStatement(
        elsewhere,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${original}'`,
      );
      await runStatement(elsewhere, `CREATE DATABASE ${copy} TEMPLATE ${original}`);
    });
    const other = await startServerProcess({
      args: ["--port", "0"],
      env: {
        ...server.env,
        ...variables,
        LEDGERCTL_DATABASE_URL: withDatabase(server.books.databaseUrl, copy),
        XDG_CONFIG_HOME: join(server.home, "other"),
      },
    });
    try {
      await post(ledgerId, 1);
      expect((await watched.watch(...watched.key)).code).toBe(0);
      const seen = readFileSync(watched.state, "utf8");
      const there = { ...server.env, LEDGERCTL_URL: other.url };
      await runHere(
        ["entry", "post", "--line", "1000:7", "--line", "4000:-7", "--ledger", ledgerId],
        there,
      );
      const args = [
        "log",
        "watch",
        "--ledger",
        ledgerId,
        "--state",
        watched.state,
        "--once",
        ...watched.key,
      ];
      // Before the fourth entry is in its checkpoint, the other log has only shrunk.
      const checkpoint = ["log", "checkpoint", "--ledger", ledgerId];
      await until("the checkpoint of the other journal", async () =>
        (await runHere(checkpoint, there)).stdout.includes("\n4\n"),
      );
      const { code, stderr } = await runHere(args, there);
      expect(code).toBe(3);
      expect(stderr).toMatch(/the log forked: it has two roots over 4 leaves; the evidence is in /);
      expect(readFileSync(watched.state, "utf8")).toBe(seen);
    } finally {
      await other.end("SIGTERM");
      await runStatement(elsewhere, `DROP DATABASE ${copy} WITH (FORCE)`);
    }
  });
});
