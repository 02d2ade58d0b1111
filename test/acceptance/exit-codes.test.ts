// Every exit code that scripts are promised is reached by the built binary, and by more commands of several kinds here; each
// with one message.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exitCodes } from "../../src/cli/failure.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, startCli } from "../support/cli.ts";
import { entry } from "../support/entries.ts";
import { runHere } from "../support/program.ts";

let server: BinaryServer;
let reader: Record<string, string>;
let entryId: string;

/** A folder of files that the cases name. */
const file = (name: string) => join(server.home, "files", name);
const sale = ["--line", "1000:500", "--line", "4000:-500"];

beforeAll(async () => {
  server = await startBinaryServer();
  const { client, books, ledgerId } = server;
  const key = await books.createKey({ scopes: ["read"] });
  reader = { LEDGERCTL_API_KEY: key.apiKey, LEDGERCTL_API_SECRET: key.apiSecret };
  const on = (transactionDate: string, more = {}) => ({ ...entry(500), transactionDate, ...more });
  const march = await client.postEntry(ledgerId, on("2026-03-05T00:00:00Z"));
  entryId = march.journalId;
  await client.postEntry(ledgerId, on("2026-05-05T00:00:00Z", { externalId: "may" }));
  const { closeId } = await client.closePeriod(ledgerId, { periodId: "2026-03" });
  mkdirSync(file(""), { recursive: true });
  const proof = await client.getProof(ledgerId, closeId, entryId);
  writeFileSync(file("forged.json"), proof.replace('"-500"', '"-501"'));
  writeFileSync(file("broken.csv"), "glAccountCode,name\n1000,a\n1000,b\n");
  writeFileSync(file("config.json"), "{");
  chmodSync(file("config.json"), 0o600);
});

afterAll(async () => {
  await server.stop();
});

interface Case {
  readonly args: () => readonly string[];
  readonly env?: () => Readonly<Record<string, string>>;
  readonly says: RegExp;
}

const quiet = () => ({ LEDGERCTL_LOG_LEVEL: "fatal" });
const nobody = () => ({ LEDGERCTL_URL: "http://127.0.0.1:9" });
const otherId = "01a1f929-0000-7000-8000-000000000000";

const cases: Readonly<Record<number, readonly Case[]>> = {
  [exitCodes.failed]: [
    {
      args: () => ["merkle", "check", file("none.json")],
      says: /none\.json can't be read: there is no such file/,
    },
    {
      args: () => ["serve", "--port", new URL(server.env["LEDGERCTL_URL"] ?? "").port],
      env: quiet,
      says: /something else is listening there; choose another --port/,
    },
    {
      args: () => ["serve", "--host", "192.0.2.1"],
      env: quiet,
      says: /this machine does not have that address; choose another --host/,
    },
    {
      args: () => ["serve", "--port", "0", "--metrics-port", "0", "--metrics-host", "192.0.2.1"],
      env: quiet,
      says: /this machine does not have that address; choose another --metrics-host/,
    },
  ],
  [exitCodes.usage]: [
    { args: () => ["entry", "pots"], says: /unknown command 'pots'\n {2}Did you mean post\?/ },
    { args: () => ["balance"], says: /missing required argument 'code'/ },
    { args: () => ["entry", "post", "--line", "1000"], says: /--line must be CODE:AMOUNT/ },
    {
      args: () => ["entry", "post", "--line", "1001:5", "--line", "4000:-5"],
      says: /no account "1001".*\n.*\n {2}Did you mean 1000\?\n {2}\(400 .*, request [0-9a-f-]{36}\)\n$/,
    },
    { args: () => ["account", "import", file("broken.csv")], says: /line 3/ },
    { args: () => ["period", "close", "2026-05"], says: /--yes/ },
    {
      args: () => ["period", "preview", "2026-13"],
      says: /"2026-13" names no period of the calendar/,
    },
    {
      args: () => ["entry", "list", "--period", "2026-13"],
      says: /--period "2026-13" names no period of the calendar/,
    },
    {
      args: () => ["balance", "1000"],
      env: () => ({ LEDGERCTL_CONFIG: file("config.json") }),
      says: /is not valid JSON/,
    },
    { args: () => ["balance", "1000"], env: () => ({ LEDGERCTL_API_KEY: "" }), says: /no API key/ },
    {
      args: () => ["key", "create", "--org", server.organizationId],
      env: () => ({ LEDGERCTL_MASTER_KEY: Buffer.alloc(32).toString("base64") }),
      says: /were made with another master key/,
    },
    {
      args: () => ["key", "create", "--org", server.organizationId],
      env: () => ({ LEDGERCTL_MASTER_KEY: "" }),
      says: /LEDGERCTL_MASTER_KEY is not set/,
    },
    {
      args: () => ["key", "create", "--org", server.organizationId],
      env: () => ({ LEDGERCTL_MASTER_KEY: "short" }),
      says: /LEDGERCTL_MASTER_KEY must be 32 bytes in base64/,
    },
    {
      args: () => ["org", "list"],
      env: () => ({ LEDGERCTL_DATABASE_URL: "postgresql://u:p@a/b?sslrootcert=/nope" }),
      says: /sslrootcert=\/nope in the database URL can't be read: there is no such file/,
    },
    {
      args: () => ["org", "list"],
      env: () => ({ LEDGERCTL_DATABASE_URL: "postgresql://u:p@a/b?sslmode=foo" }),
      says: /sslmode must be one of .*verify-full.*, and not foo/,
    },
  ],
  [exitCodes.verificationFailed]: [
    { args: () => ["merkle", "check", file("forged.json")], says: /^$/ },
    {
      args: () => ["merkle", "verify", "--period", "2026-03", "--expect", "0".repeat(64)],
      says: /^$/,
    },
  ],
  [exitCodes.notPermitted]: [
    { args: () => ["entry", "post", ...sale], env: () => reader, says: /\(403 INSUFFICIENT_SCOPE/ },
    {
      args: () => ["balance", "1000"],
      env: () => ({ LEDGERCTL_API_SECRET: `ls_${"x".repeat(43)}` }),
      says: /ledgerctl doctor.*\n {2}\(401/,
    },
  ],
  [exitCodes.notFound]: [
    { args: () => ["balance", "100"], says: /\n {2}Did you mean 1000 or 1100\?\n {2}\(404/ },
    { args: () => ["entry", "show", otherId], says: /\(404/ },
    { args: () => ["balance", "1000", "--ledger", otherId], says: /\(404/ },
    { args: () => ["period", "show", "2026-30"], says: /not closed.*\n {2}Did you mean 2026-03\?/ },
    {
      args: () => ["account", "deactivate", "4001"],
      says: /no account 4001\n {2}Did you mean 4000\?/,
    },
    { args: () => ["ledger", "suspend", otherId], says: /there is no ledger/ },
    { args: () => ["profile", "use", "live"], says: /there is no profile "live"/ },
    { args: () => ["balance", "1000", "--profile", "live"], says: /there is no profile "live"/ },
    {
      args: () => ["config", "list"],
      env: () => ({ LEDGERCTL_PROFILE: "live" }),
      says: /there is no profile "live"/,
    },
  ],
  [exitCodes.conflict]: [
    {
      args: () => ["entry", "post", ...sale, "--external-id", "may"],
      says: /\(409 DUPLICATE_ENTRY/,
    },
    { args: () => ["entry", "post", ...sale, "--date", "2026-03-31"], says: /\(4.. PERIOD_CLOSED/ },
    { args: () => ["entry", "reverse", entryId], says: /\(4.. PERIOD_CLOSED/ },
    { args: () => ["wallet", "debit", "nobody", "1", "--asset", "USD"], says: /\(422/ },
    { args: () => ["account", "add", "1000", "Cash"], says: /already has an account 1000/ },
  ],
  [exitCodes.unavailable]: [
    { args: () => ["balance", "1000"], env: nobody, says: /Is the server running\?/ },
    { args: () => ["doctor"], env: nobody, says: /^$/ },
    {
      args: () => ["org", "list"],
      env: () => ({ LEDGERCTL_DATABASE_URL: "postgresql://nobody@127.0.0.1:9/none" }),
      says: /the database can't be used/,
    },
    { args: () => ["org", "list", "--data-dir", file("nothing")], says: /there is no database in/ },
  ],
};

describe.each(Object.entries(cases))("exit code %s", (code, those) => {
  it.each(those.map((one, index) => [index, one] as const))(
    "is that of case %i",
    async (index, one) => {
      const args = one.args();
      const env = { ...server.env, ...one.env?.() };
      const ended = index === 0 ? await runCli(args, { env }) : await runHere(args, env);
      expect(ended.code, `${args.join(" ")}\n${ended.stderr}`).toBe(Number(code));
      expect(ended.stderr).toMatch(one.says);
      if (ended.stderr === "") return;
      // A server that may come back is waited for a little, which is told.
      const message = ended.stderr.replace(/^waiting for the server …\n/, "");
      expect(message).toMatch(/^ledgerctl: [^\n]+\n(?: {2}[^\n]+\n)*$/);
      expect(ended.stdout).toBe("");
      expect(ended.stderr).not.toContain("\u001b");
    },
  );
});

it("is 0 when all went well", async () => {
  const ended = await runCli(["ledger", "list", "--json"], { env: server.env });
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(documents(ended.stdout)).toHaveLength(1);
});

it("is 6 for a ledger that is suspended or closed, and for a wallet's hold that is gone", async () => {
  const { client, books, ledgerId } = server;
  const wallet = { ledgerId, callerKey: "h" };
  await client.creditWallet(wallet, { amount: "9", assetCode: "USD" });
  const { holdId } = await client.reserveFunds(wallet, { amount: "5", assetCode: "USD" });
  await client.releaseHold(wallet, holdId);
  const { journalId } = await client.postEntry(ledgerId, entry(500));
  await client.reverseEntry(ledgerId, journalId);
  for (const args of [
    ["wallet", "commit", "h", holdId],
    ["entry", "reverse", journalId],
  ]) {
    expect([args[1], (await runHere(args, server.env)).code]).toEqual([args[1], 6]);
  }
  const other = await books.createLedger();
  for (const status of ["suspended", "closed"] as const) {
    await books.changeStatus(other, status);
    const post = ["entry", "post", ...sale, "--ledger", other];
    expect((await runHere(post, server.env)).code).toBe(6);
  }
});

it("is 130 when interrupted", async () => {
  const { child, result } = startCli(["wallet", "tail", "h", "--json", "--since", "0"], {
    env: server.env,
  });
  child.stdout?.once("data", () => child.kill("SIGINT"));
  expect(await result).toMatchObject({ code: 130 });
});

it("covers all that there are", () => {
  const others = [exitCodes.done, exitCodes.interrupted];
  const reached = [...Object.keys(cases).map(Number), ...others].sort((a, b) => a - b);
  expect(reached).toEqual(Object.values(exitCodes).sort((a, b) => a - b));
});
