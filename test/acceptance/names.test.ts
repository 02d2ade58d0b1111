// Names where ids are long: of keys, and of ledgers and organizations in commands on the database.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, type CliResult } from "../support/cli.ts";

let server: BinaryServer;

beforeAll(async () => {
  server = await startBinaryServer();
  await run(["org", "create", "Branch"]);
  await run(["org", "create", "Branch"]);
  for (const name of ["Berlin", "Branches", "Branches"]) await make(name, server.organizationId);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

function run(args: readonly string[]): Promise<CliResult> {
  return runCli(args, server);
}

async function make(name: string, org: string): Promise<CliResult> {
  return run(["ledger", "create", name, "--org", org, "--currency", "EUR", "--json"]);
}

async function idsOf(noun: "org" | "ledger", name: string): Promise<string[]> {
  const { stdout } = await run([noun, "list", "--json"]);
  const listed = documents<{ id: string; name: string }>(stdout);
  return listed.filter((one) => one.name === name).map(({ id }) => id);
}

describe("a key's name", () => {
  test("is told when it is made and in lists, and is in the record of administration", async () => {
    const org = ["--org", server.organizationId];
    const made = await run(["key", "create", ...org, "--name", "Büro\u0007 3", "--json"]);
    const key = JSON.parse(made.stdout) as { apiKey: string; name: string };
    expect(key.name).toBe("Büro\u0007 3");
    const other = await run(["key", "create", ...org, "--json"]);
    const unnamed = JSON.parse(other.stdout) as { apiKey: string };
    expect(unnamed).toMatchObject({ name: null });
    expect((await run(["key", "list"])).stdout).toMatch(
      new RegExp(`^${key.apiKey} +Büro\\\\u0007 3 +${server.organizationId} `, "m"),
    );
    const listed = documents<{ apiKey: string; name: string | null }>(
      (await run(["key", "list", "--json"])).stdout,
    );
    const names = new Map(listed.map(({ apiKey, name }) => [apiKey, name]));
    expect([names.get(key.apiKey), names.get(unnamed.apiKey)]).toEqual(["Büro\u0007 3", null]);
    expect((await run(["key", "list", "--csv"])).stdout).toMatch(/^apiKey,name,organizationId,/);
    const revoked = await run(["key", "revoke", key.apiKey, "--json"]);
    expect(JSON.parse(revoked.stdout)).toMatchObject({ name: "Büro\u0007 3" });
    const acts = documents<{ subject: string; record: { api_key?: string; name?: string } }>(
      (await run(["audit", "log", "--json"])).stdout,
    );
    const own = acts.filter(({ record }) => record.api_key === key.apiKey);
    expect(own.map(({ record }) => record.name)).toEqual(["Büro\u0007 3", "Büro\u0007 3"]);
    expect((await run(["audit", "--quiet"])).code).toBe(0);
  });
});

describe("a ledger of the database", () => {
  test("is found by its name, as by its id", async () => {
    const [id = ""] = await idsOf("ledger", "Berlin");
    const listed = await run(["asset", "list", "--ledger", "Berlin", "--json"]);
    expect([listed.code, listed.stderr]).toEqual([0, ""]);
    const audited = await run(["audit", "--ledger", "Berlin", "--json"]);
    expect(JSON.parse(audited.stdout)).toMatchObject({ checks: expect.any(Array) as unknown });
    const suspended = await run(["ledger", "suspend", "Berlin", "--json"]);
    expect(JSON.parse(suspended.stdout)).toMatchObject({ id, status: "suspended" });
    expect((await run(["ledger", "activate", id.toUpperCase()])).code).toBe(0);
    const closed = await run(["ledger", "close", "Berlin", "--yes", "--json"]);
    expect(JSON.parse(closed.stdout)).toMatchObject({ id, status: "closed" });
    const resumed = await run(["log", "resume", "--ledger", "Branchez", "--yes"]);
    expect(resumed).toMatchObject({
      code: 5,
      stderr:
        'ledgerctl: there is no ledger "Branchez" in the database\n  Did you mean Branches?\n',
    });
  });

  test("has to be named by its id where several have the name", async () => {
    const ids = await idsOf("ledger", "Branches");
    expect(ids).toHaveLength(2);
    for (const args of [
      ["ledger", "suspend", "Branches"],
      ["account", "add", "1", "A", "--ledger", "Branches"],
      ["audit", "--ledger", "Branches"],
    ]) {
      const { code, stderr } = await run(args);
      expect(code).toBe(2);
      expect(stderr).toContain(`"Branches" is the name of several ledgers: ${ids.join(", ")}`);
    }
  });
});

describe("an organization", () => {
  test("is found by its name where only one has it", async () => {
    await run(["org", "create", "Sole"]);
    const made = await make("Of the sole", "Sole");
    expect(made.code).toBe(0);
    const [id = ""] = await idsOf("org", "Sole");
    const key = await run(["key", "create", "--org", "Sole", "--json"]);
    expect(JSON.parse(key.stdout)).toMatchObject({ organizationId: id });
    const ids = await idsOf("org", "Branch");
    const several = await make("X", "Branch");
    expect([several.code, several.stderr]).toEqual([
      2,
      expect.stringContaining(`is the name of several organizations: ${ids.join(", ")}"`),
    ]);
  });
});
