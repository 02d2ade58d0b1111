// What a real server signs and proves, in the hands of an outsider: both verifiers print the same, and Go's modules agree.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseTlogProof } from "../../src/core/tlog-proof.ts";
import { policyOfKeys } from "../../src/core/tlog-policy.ts";
import { parseVerifierKey } from "../../src/core/note.ts";
import { verifyTlogProof } from "../../src/verify/tlog-proof.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, type CliResult } from "../support/cli.ts";
import { entry } from "../support/entries.ts";
import { askGo, hasGo } from "../support/go-tlog.ts";
import { runHere } from "../support/program.ts";
import { hasPython } from "../support/python.ts";
import { runSecondVerifier } from "../support/second-verifier.ts";
import { until } from "../support/until.ts";

let server: BinaryServer;
let folder: string;
/** Verifier keys of the journal and of the closes. */
let keys: readonly string[];

const run = (...args: string[]): Promise<CliResult> => runHere(args, server.env);
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  server = await startBinaryServer({
    LEDGERCTL_LOG_KEY: randomBytes(32).toString("base64"),
    LEDGERCTL_LOG_NAME: "ledger.example.com/é",
    LEDGERCTL_CHECKPOINT_INTERVAL_MS: "50",
  });
  folder = mkdtempSync(join(server.home, "verifiers-"));
  const bodies = [1, 2, 3, 4, 5].map((day) =>
    entry(100 + day, {
      transactionDate: `2026-03-0${day}T00:00:00Z`,
      description: "Übertrag \u2028",
    }),
  );
  const receipts = await server.client.postAtomicEntries(server.ledgerId, bodies);
  await server.client.closePeriod(server.ledgerId, { periodId: "2026-03" });
  await until("checkpoints over everything", async () => {
    const [journal, closes] = await Promise.all([
      server.client.getLog(server.ledgerId, "journal"),
      server.client.getLog(server.ledgerId, "closes"),
    ]);
    keys = [journal.verifierKey, closes.verifierKey];
    return journal.size === bodies.length && closes.size === 1;
  });
  const results = [
    await run("log", "checkpoint", "--out", file("note")),
    await run("log", "prove", receipts[2]?.journalId ?? "", "--out", file("entry.tlog-proof")),
    await run("bundle", "2026-03", "--out", file("2026-03.ndjson"), "--with-proof"),
  ];
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

const trusted = () => keys.flatMap((key) => ["--verifier-key", key]);

describe.runIf(hasPython)("the second verifier", () => {
  it("prints what log verify prints", async () => {
    const files = ["note", "entry.tlog-proof", "2026-03.ndjson.tlog-proof"].map(file);
    const first = await run("log", "verify", ...files, ...trusted(), "--json");
    const second = runSecondVerifier(...files, ...trusted(), "--json");
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(JSON.parse(second.output)).toEqual(documents(first.stdout)[0]);
  });

  it("anchors a close by its proof, as merkle verify does", async () => {
    const bundle = file("2026-03.ndjson");
    const args = ["--bundle", bundle, "--proof", `${bundle}.tlog-proof`];
    expect((await run("merkle", "verify", ...args, ...trusted())).code).toBe(0);
    expect(runSecondVerifier(...args, ...trusted()).code).toBe(0);
    // By the key of the other log it is not.
    const journal = ["--verifier-key", keys[0] ?? ""];
    expect((await run("merkle", "verify", ...args, ...journal)).code).toBe(3);
    expect(runSecondVerifier(...args, ...journal).code).toBe(3);
  });
});

describe.runIf(hasGo)("Go's modules", () => {
  it("accept the note and the proof of an entry", () => {
    const note = readFileSync(file("note"));
    const text = readFileSync(file("entry.tlog-proof"), "utf8");
    const [journal = ""] = keys;
    const policy = policyOfKeys([parseVerifierKey(journal)], []);
    const { data: leaf, index, checkpoint } = verifyTlogProof(text, policy);
    const { size, rootHash: root } = checkpoint;
    const { path: hashes, checkpoint: inProof } = parseTlogProof(text);
    const faults = askGo([
      { note, verifierKeys: [journal] },
      { note: Buffer.from(inProof), verifierKeys: [journal] },
      { leaf, index, size, root, hashes },
    ]);
    expect(faults).toEqual(["", "", ""]);
  });
});
