// `--csv` of every list says what --json says. Python's csv module reads it.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pathOf, shownCommandsOf } from "../../src/cli/definition/command-tree.ts";
import { createProgram } from "../../src/cli/program.ts";
import { defaultScopes } from "../../src/core/ledger.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli } from "../support/cli.ts";
import { entry } from "../support/entries.ts";
import { hasPython, python } from "../support/python.ts";

const hostile = 'a "quoted", text;\r\nwith\ttwo lines, é 🎉 and a space ';

let server: BinaryServer;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = await startBinaryServer();
  const { client, ledgerId } = server;
  const transactionDate = "2026-03-05T00:00:00Z";
  const first = { ...entry(500), transactionDate, description: hostile, metadata: { n: 1.5 } };
  const { journalId } = await client.postEntry(ledgerId, { ...first, externalId: "=1+1" });
  await client.reverseEntry(ledgerId, journalId);
  const wallet = { ledgerId, callerKey: "alice" };
  await client.creditWallet(wallet, {
    amount: "9007199254740993",
    assetCode: "USD",
    metadata: hostile,
  });
  const transfer = { from: "alice", to: "bob", amount: "1", assetCode: "USD" };
  await client.transferAtomically(ledgerId, [transfer]);
  await client.closePeriod(ledgerId, { periodId: "2026-03", reason: hostile });
  const config = join(server.home, "csv-config.json");
  const profiles = { [hostile.trim().slice(0, 9)]: { url: "http://127.0.0.1:1" }, plain: {} };
  writeFileSync(config, JSON.stringify({ currentProfile: "plain", profiles }), { mode: 0o600 });
  const { apiKey, apiSecret } = await server.books.createKey({
    scopes: [...defaultScopes, "admin"],
  });
  const key = { LEDGERCTL_API_KEY: apiKey, LEDGERCTL_API_SECRET: apiSecret };
  env = { ...server.env, ...key, LEDGERCTL_PROFILES: config };
  const url = "https://receiver.invalid/";
  await run(["delivery", "add", url, "--events", "entry,wallet", "--quiet"]);
  await run(["wallet", "freeze", "alice", "--quiet"]);
});

afterAll(async () => {
  await server.stop();
});

const lists: readonly string[] = [
  ...["org list", "key list", "ledger list", "account list", "asset list", "audit log --limit 500"],
  ...["entry list", "period list", "wallet history alice", "wallet list", "profile list"],
  ...["delivery list", "config list"],
];

async function run(args: readonly string[]): Promise<string> {
  const { LEDGERCTL_PROFILES: config = "", ...rest } = env;
  const isProfiles = args[0] === "profile";
  const own = isProfiles ? { HOME: server.home, LEDGERCTL_CONFIG: config } : rest;
  const { code, stdout, stderr } = await runCli(args, { env: own });
  expect([code, stderr], args.join(" ")).toEqual([0, ""]);
  return stdout;
}

/** Rows as Python reads them, the header first. */
function readCsv(text: string): string[][] {
  const script =
    "import csv,json,sys,io; t=sys.stdin.buffer.read().decode(); print(json.dumps(list(csv.reader(io.StringIO(t, newline=''), strict=True))))";
  const { stdout } = spawnSync(python, ["-ISc", script], { input: text });
  return JSON.parse(stdout.toString()) as string[][];
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

describe.skipIf(!hasPython)("--csv", () => {
  it("is an option of every list, and every one is looked at here", () => {
    const commands = shownCommandsOf(createProgram()).filter(
      (command) =>
        command.name() === "list" || command.options.some(({ long }) => long === "--csv"),
    );
    const paths = commands.map((command) => pathOf(command).replace("ledgerctl ", ""));
    const listed = lists.map((list) => list.split(" ").slice(0, 2).join(" "));
    expect(listed).toEqual(
      expect.arrayContaining(paths.filter((path) => / (list|log|history)$/.test(path))),
    );
  });

  it.each(lists)("of %s has the members of the JSON, whatever is in them", async (list) => {
    const args = list.split(" ");
    const objects = documents<Record<string, unknown>>(await run([...args, "--json"]));
    expect(objects.length).toBeGreaterThan(0);
    const [header = [], ...rows] = readCsv(await run([...args, "--csv"]));
    // Some members are of some objects only.
    const members = new Set(objects.flatMap((object) => Object.keys(object)));
    expect([...members].sort()).toEqual([...header].sort());
    expect(rows).toEqual(objects.map((object) => header.map((name) => cellOf(object[name]))));
  });

  it("has its header also where there is nothing", async () => {
    expect(await run(["wallet", "history", "nobody", "--csv"])).toMatch(
      /^seq,type,amount,[^\n]+\n$/,
    );
    expect(await run(["entry", "list", "--csv", "--quiet", "--from", "2030-01-01"])).toMatch(
      /^journalId,[^\n]+\n$/,
    );
    expect(await run(["period", "list", "--csv", "--quiet"])).toMatch(/^ledgerId,/);
  });

  it("has the whole of a long list", async () => {
    const { client, ledgerId } = server;
    await client.postEntries(
      ledgerId,
      Array.from({ length: 120 }, () => entry(1)),
    );
    const rows = readCsv(await run(["entry", "list", "--csv"]));
    expect(rows.length).toBeGreaterThan(121);
    expect(rows.filter(([first]) => first === "journalId")).toHaveLength(1);
    expect(readCsv(await run(["entry", "list", "--csv", "--quiet", "--limit", "7"]))).toHaveLength(
      8,
    );
  });

  it("and --json, or --jq, exclude each other", async () => {
    for (const flag of [["--json"], ["--jq", "."]]) {
      const { code, stderr } = await runCli(["org", "list", "--csv", ...flag], { env });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining("--csv and --json exclude each other"),
      ]);
    }
  });
});
