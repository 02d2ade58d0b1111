// Closes from the shell: an accountant closes a period, an auditor checks a file and believes nothing else.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Close } from "../../src/contract/types.ts";
import type { CloseVerdict } from "../../src/verify/verdict.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli, type CliResult } from "../support/cli.ts";
import { bundleOf, bundleText, closeVectors } from "../support/close-vectors.ts";
import { entry } from "../support/entries.ts";
import { offlineGuard } from "../support/offline-guard.ts";
import { runHere } from "../support/program.ts";
import { hasPython } from "../support/python.ts";
import { runSecondVerifier } from "../support/second-verifier.ts";

let server: BinaryServer;
let close: Close;
let bundle: string;
let proof: string;
let entryIds: string[];

/** What an auditor has: a file, no account, no service, no home. */
const offline = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" };

const run = (...args: string[]): Promise<CliResult> => runHere(args, server.env);
const runBuilt = (...args: string[]): Promise<CliResult> => runCli(args, server);
/** An auditor's command, and one of the built program that is ended where it reaches for anything but the file. */
const audit = (...args: string[]): Promise<CliResult> => runHere(args, offline);
const guarded = (...args: string[]): Promise<CliResult> =>
  runCli(args, {
    env: {
      ...server.env,
      LEDGERCTL_CONFIG: join(server.home, "config.json"),
      // Anybody who reads these fails over them.
      LEDGERCTL_URL: "not a url",
      LEDGERCTL_DATABASE_URL: "not a database",
      LEDGERCTL_MASTER_KEY: "no key",
      NODE_OPTIONS: `--require ${join(server.home, "guard.cjs")}`,
    },
  });

/** The record of a close as the API has it, of what `period close --json` printed. */
function recordOf({ stdout }: CliResult): Close {
  const { attention, ...record } = JSON.parse(stdout) as Close & { attention: string[] };
  expect(attention).toBeInstanceOf(Array);
  return record;
}

beforeAll(async () => {
  server = await startBinaryServer();
  writeFileSync(join(server.home, "guard.cjs"), offlineGuard);
  const posted = await server.client.postAtomicEntries(server.ledgerId, [
    entry(700, { transactionDate: "2026-02-27T00:00:00Z" }),
    ...["01", "15", "31"].map((day) =>
      entry(12_000 + Number(day), { transactionDate: `2026-03-${day}T00:00:00Z` }),
    ),
  ]);
  entryIds = posted.map(({ journalId }) => journalId);
  const closed = await runBuilt(
    "period",
    "close",
    "2026-03",
    "--reason",
    "March",
    "--yes",
    "--allow-open-earlier",
    "--json",
  );
  expect(closed.code, closed.stderr).toBe(0);
  close = recordOf(closed);
  bundle = join(server.home, "2026-03.ndjson");
  expect(await runBuilt("bundle", "2026-03", "--out", bundle)).toMatchObject({
    code: 0,
    stdout: "",
  });
  proof = join(server.home, "proof.json");
  const prove = ["merkle", "prove", entryIds[2] ?? "", "--period", "2026-03", "--out", proof];
  expect(await runBuilt(...prove)).toMatchObject({ code: 0, stdout: "" });
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

describe("period", () => {
  it("refuses what is dated in a closed one, with exit code 6", async () => {
    const lines = ["--line", "1000:1", "--line", "4000:-1", "--date", "2026-03-05"];
    const refused = await run("entry", "post", ...lines);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toMatch(
      /^ledgerctl: .*; date the entry in an open period\n.*`ledgerctl entry correct ID`\.\n {2}\(4.. PERIOD_CLOSED, request .*\)\n$/,
    );
    const kept = await run("entry", "reverse", entryIds[1] ?? "");
    expect(kept.code).toBe(6);
    expect(kept.stderr).toMatch(
      /the entry is dated .*; post an entry with its amounts negated, of the type ADJUSTING, dated in an open period\n.*`ledgerctl entry correct ID`/,
    );
  });

  it("close needs --yes where nobody can be asked, and says what it would close", async () => {
    const dated = await run("period", "close", "2026-04");
    expect(dated.code).toBe(2);
    expect(dated.stderr).toContain("from 2026-04-01T00:00:00.000Z up to 2026-05-01T00:00:00.000Z");
    expect(dated.stderr).toMatch(/^ledgerctl: Close "2026-04".*say --yes to go ahead\.\n$/);
    const open = await run("period", "close", "final");
    expect(open.stderr).toContain("THIS MOMENT (the label is no date)");
    expect((await server.client.listCloses(server.ledgerId)).closes).toHaveLength(1);
  });

  it("close refuses a label that is nearly a date, and a period again gives its record", async () => {
    expect((await run("period", "close", "2026-13", "--yes")).code).toBe(2);
    const again = await run("period", "close", "2026-03", "--yes", "--json");
    expect(recordOf(again)).toEqual(close);
  });

  it("diff compares closes with each other, and with bundles", async () => {
    const same = await run("period", "diff", "2026-03", bundle, "--json");
    expect(JSON.parse(same.stdout)).toMatchObject({
      ...{ ok: true, a: { ...close, source: "2026-03" }, b: close, accounts: [] },
    });
    const other = await run("period", "diff", bundle, "2026-02");
    expect([other.code, other.stderr]).toEqual([5, expect.stringContaining("is not closed")]);
  });

  it("show has the trial balance; one that is not closed is exit code 5", async () => {
    const shown = await runBuilt("period", "show", "2026-03");
    expect(shown.stdout).toContain(close.closeHash);
    expect(shown.stdout).toMatch(/^1000 +7\.00 USD +360\.47 USD +0\.00 USD +367\.47 USD +3$/m);
    expect((await run("period", "show", "2026-02")).code).toBe(5);
  });
});

describe("merkle verify", () => {
  const verdict = async (result: Promise<CliResult>) =>
    JSON.parse((await result).stdout) as CloseVerdict;

  it("finds a bundle consistent offline, and anchored by what was published", async () => {
    const free = await audit("merkle", "verify", "--bundle", bundle);
    expect(free.code).toBe(0);
    expect(free.stdout).toContain("consistent, NOT anchored");
    expect(free.stdout).not.toContain("verified");
    const { startsAt, endsAt, closedAt, number, entryCount } = close;
    expect(free.stdout.split("\n").slice(0, 4)).toEqual([
      `ledger       ${server.ledgerId}`,
      `period       "2026-03", from ${startsAt} up to ${endsAt}`,
      `close        ${number}, closed at ${closedAt}`,
      `entries      ${entryCount}`,
    ]);
    for (const [hash, name] of [
      [close.closeHash, "closeHash"],
      [close.merkleRoot.toUpperCase(), "merkleRoot"],
    ] as const) {
      const anchored = await guarded("merkle", "verify", "--bundle", bundle, "--expect", hash);
      expect(anchored).toMatchObject({ code: 0, stderr: "" });
      expect(anchored.stdout).toContain(`verified: everything matches, and ${name} is the one`);
    }
  });

  it("writes a bundle into a pipe that is there, and leaves it a pipe", async () => {
    const pipe = join(server.home, "pipe.ndjson");
    execFileSync("mkfifo", [pipe]);
    const reading = readFile(pipe, "utf8");
    expect(await runBuilt("bundle", "2026-03", "--out", pipe)).toMatchObject({ code: 0 });
    expect(statSync(pipe).isFIFO()).toBe(true);
    expect(await reading).toBe(readFileSync(bundle, "utf8"));
  });

  it("reads a bundle from stdin", async () => {
    const args = ["merkle", "root", "--bundle", "-"];
    const result = await runCli(args, { env: offline, input: readFileSync(bundle) });
    expect(result).toEqual({ code: 0, stdout: `${close.merkleRoot}\n`, stderr: "" });
  });

  it("recomputes openings too where the service lists the entries", async () => {
    const online = ["merkle", "verify", "--period", "2026-03", "--expect", close.closeHash];
    const { ok, anchored, notChecked } = await verdict(runBuilt(...online, "--json"));
    expect({ ok, anchored, notChecked }).toEqual({ ok: true, anchored: true, notChecked: [] });
  });

  it("ends with 3 and names what differs, also for another figure than expected", async () => {
    const forged = join(server.home, "forged.ndjson");
    writeFileSync(forged, readFileSync(bundle, "utf8").replaceAll("12015", "12016"));
    const found = await audit("merkle", "verify", "--bundle", forged);
    expect(found.code).toBe(3);
    expect(found.stdout).toContain('account "1000" debits is 36047, but comes to 36048');
    expect(found.stdout).toContain("merkleRoot");
    expect(found.stdout).toContain("FAILED");
    const other = await audit("merkle", "verify", "--bundle", bundle, "--expect", "0".repeat(64));
    expect(other.code).toBe(3);
    expect(other.stdout).not.toContain("verified");
  });

  it("ends with 2 on wrong use, with 3 on a file that is no bundle, with 1 on one that can't be read", async () => {
    const none = join(server.home, "none.ndjson");
    writeFileSync(none, "hello\n");
    expect((await audit("merkle", "verify", "--bundle", none)).code).toBe(3);
    expect((await audit("merkle", "check", none)).code).toBe(3);
    const swapped = await audit("merkle", "check", bundle);
    expect([swapped.code, swapped.stderr]).toEqual([
      3,
      `ledgerctl: ${bundle} is no proof: it is a bundle: \`ledgerctl merkle verify --bundle\` checks it\n`,
    ]);
    const other = await audit("merkle", "verify", "--bundle", proof);
    expect([other.code, other.stderr]).toEqual([
      3,
      `ledgerctl: ${proof} is no bundle: it is a proof: \`ledgerctl merkle check\` checks it\n`,
    ]);
    const missing = join(server.home, "missing");
    expect((await audit("merkle", "verify", "--bundle", missing)).code).toBe(1);
    expect((await audit("merkle", "check", missing)).code).toBe(1);
    const cut = join(server.home, "cut.ndjson");
    writeFileSync(cut, readFileSync(bundle).subarray(0, -1));
    const unended = await audit("merkle", "verify", "--bundle", cut);
    expect(unended.code).toBe(3);
    const findings = unended.stdout.split("\n").filter((line) => line.startsWith("MISMATCH"));
    expect(findings).toEqual([
      expect.stringMatching(
        / line \d+ has no line feed at its end: the file may have been cut off$/,
      ),
    ]);
    for (const args of [
      ["--bundle", bundle, "--period", "2026-03"],
      ["--bundle", bundle, "--expect", "abc"],
      [],
    ]) {
      expect((await audit("merkle", "verify", ...args)).code, args.join(" ")).toBe(2);
    }
  });
});

describe("merkle prove and check", () => {
  it("make a proof and check it offline", async () => {
    const free = await audit("merkle", "check", proof);
    expect(free.stdout).toContain("consistent, NOT anchored");
    const anchored = await guarded("merkle", "check", proof, "--root", close.closeHash);
    expect(anchored).toMatchObject({ code: 0, stderr: "" });
    expect(anchored.stdout).toContain("verified");
    const printed = await run("merkle", "prove", entryIds[2] ?? "", "--period", "2026-03");
    expect(JSON.parse(printed.stdout)).toEqual(JSON.parse(readFileSync(proof, "utf8")));
    const forged = join(server.home, "forged.json");
    writeFileSync(forged, readFileSync(proof, "utf8").replaceAll("12015", "12016"));
    expect((await audit("merkle", "check", forged, "--root", close.closeHash)).code).toBe(3);
  });

  it("can't prove what the close does not cover", async () => {
    const outside = await run("merkle", "prove", entryIds[0] ?? "", "--period", "2026-03");
    expect(outside.code).toBe(5);
  });
});

describe("without anybody's help", () => {
  it("bundles and proofs are checked: no socket, no configuration, no database", async () => {
    // The guard, which also had an eye on verify and check, is no use unless it stops those who do reach out.
    expect((await guarded("period", "list", "--url", server.url)).code).toBe(99);
    for (const args of [
      ["merkle", "root", "--bundle", bundle],
      ["bundle", "show", bundle],
      ["bundle", "export", bundle, "--format", "hledger"],
      ["trial-balance", "--bundle", bundle],
      ["period", "diff", bundle, bundle],
    ]) {
      expect(await guarded(...args), args.join(" ")).toMatchObject({ code: 0, stderr: "" });
    }
  });
});

describe.runIf(hasPython)("the second verifier", () => {
  it("agrees on a bundle and a proof, and on forged ones", async () => {
    expect(runSecondVerifier(bundle)).toMatchObject({ code: 0 });
    const anchored = runSecondVerifier(bundle, "--expect", close.closeHash);
    expect(anchored.code, anchored.output).toBe(0);
    expect(anchored.output).toContain("verified");
    expect(runSecondVerifier(bundle, "--expect", "0".repeat(64)).code).toBe(3);
    expect(runSecondVerifier(proof, "--expect", close.closeHash).code).toBe(0);
    for (const file of [bundle, proof]) {
      const forged = `${file}.forged`;
      writeFileSync(forged, readFileSync(file, "utf8").replaceAll("12015", "12016"));
      expect(runSecondVerifier(forged, "--expect", close.closeHash).code).toBe(3);
    }
  });

  it("takes no number in place of another that has the same double, and so the same hash", () => {
    const text = bundleText(bundleOf(0));
    const { closeHash } = closeVectors.closes[0]?.record ?? {};
    for (const [from, to, code] of [
      ["", "", 0],
      ['"spotRate":1.0845', '"spotRate":10845e-4', 0],
      ['"spotRate":1.0845', '"spotRate":1.08450000000000000001', 3],
      ['"spotRate":null', '"spotRate":1e-99999999999999999999', 3],
    ] as const) {
      const forged = join(server.home, "number.ndjson");
      expect(text).toContain(from);
      writeFileSync(forged, text.replace(from, to));
      expect(runSecondVerifier(forged, "--expect", closeHash ?? "").code, to).toBe(code);
    }
  });
});
