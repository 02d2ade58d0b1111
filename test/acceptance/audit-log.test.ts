// `audit log`: who did what, as commands record it and the built binary shows it.
import { userInfo } from "node:os";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isCluster } from "../support/cluster.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { documents, runCli, type CliResult } from "../support/cli.ts";
import { runHere } from "../support/program.ts";

interface Act {
  readonly number: number;
  readonly kind: string;
  readonly subject: string;
  readonly ledgerId: string | null;
  readonly record: Record<string, unknown>;
  readonly operator: string | null;
  readonly program: string;
  readonly hash: string;
}

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

function env(): Record<string, string> {
  const masterKey = Buffer.alloc(32, 7).toString("base64");
  return { LEDGERCTL_DATABASE_URL: database.url, LEDGERCTL_MASTER_KEY: masterKey };
}

function outputOf(result: CliResult): string {
  expect(result, result.stderr).toMatchObject({ code: 0 });
  return result.stdout;
}

const run = async (...args: string[]) => outputOf(await runHere(args, env()));
const runBuilt = async (...args: string[]) => outputOf(await runCli(args, { env: env() }));

const listActs = async (...flags: string[]) =>
  documents<Act>(await runBuilt("audit", "log", "--json", ...flags));

it("records what is administered, newest last, without a secret", async () => {
  const org = (await runBuilt("org", "create", "Acme", "--quiet")).trim();
  const ledger = (
    await run("ledger", "create", "Books", "--org", org, "--currency", "USD", "--quiet")
  ).trim();
  await run("account", "add", "1000", "Cash", "--ledger", ledger);
  await run("account", "deactivate", "1000", "--ledger", ledger);
  const [key = "", secret = ""] = (await run("key", "create", "--org", org, "--quiet")).split(/\s/);
  await run("key", "revoke", key);
  await run("asset", "set", "POINTS", "--ledger", ledger, "--overdraft", "123456789012345678901");
  await run("ledger", "suspend", ledger);
  const acts = await listActs();
  // On Citus each ledger's acts are numbered by themselves.
  if (!isCluster) {
    expect(acts.map(({ number }) => number)).toEqual(acts.map((_, index) => index + 1));
  }
  // What one transaction makes has no order of its own.
  expect(acts.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
    "made organizations",
    ...["made ledgers", "made ledger_states", "made accounts", "made accounts"].map(
      () => expect.stringMatching(/^made (ledgers|ledger_states|accounts)$/) as string,
    ),
    "made accounts",
    "changed accounts",
    "made api_keys",
    "changed api_keys",
    ...["made asset_rules", "made accounts", "made accounts"].map(
      () => expect.stringMatching(/^made (asset_rules|accounts)$/) as string,
    ),
    "changed ledger_states",
  ]);
  const operator = userInfo().username;
  for (const act of acts) expect(act).toMatchObject({ operator, program: "ledgerctl" });
  expect(acts.find(({ subject }) => subject === "asset_rules")).toMatchObject({
    ledgerId: ledger,
    record: { asset_code: "POINTS", overdraft_limit: "123456789012345678901" },
  });
  expect(JSON.stringify(acts)).not.toContain(secret);
  expect(await listActs("--limit", "2")).toEqual(acts.slice(-2));
  const table = await runBuilt("audit", "log", "--limit", "1");
  expect(table).toMatch(/^ *ACT +AT +OPERATOR +ROLE +PROGRAM +DONE +AS\n/);
  expect(table).toContain("changed state of ledger");
  expect(table).toContain("status=suspended");
  expect(await runBuilt("audit", "--quiet")).toContain("administration");
});
