// Administration by a key with the scope `admin`: the commands for accounts and rules of assets through the API, and when
// they work on the database instead.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Credentials } from "../support/signed-request.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli } from "../support/cli.ts";
import { freePort } from "../support/free-port.ts";
import { runHere } from "../support/program.ts";
import { startServerProcess } from "../support/server-process.ts";

let server: BinaryServer;
/** The service and a key, and no database: what somebody has who works elsewhere. */
let away: Record<string, string>;

const withKey = ({ apiKey, apiSecret }: Credentials): Record<string, string> => ({
  ...away,
  LEDGERCTL_API_KEY: apiKey,
  LEDGERCTL_API_SECRET: apiSecret,
});

beforeAll(async () => {
  server = await startBinaryServer();
  away = {
    HOME: server.home,
    XDG_DATA_HOME: join(server.home, "none"),
    LEDGERCTL_URL: server.url,
    LEDGERCTL_LEDGER: server.ledgerId,
  };
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

describe("with a key that has the scopes read and admin", () => {
  let env: Record<string, string>;
  const run = (...args: string[]) => runHere(args, env);

  beforeAll(async () => {
    env = withKey(await server.books.createKey({ scopes: ["read", "admin"] }));
  });

  it("adds an account, refuses its code a second time, and prints what the database way prints", async () => {
    const args = ["account", "add", "6000", "Travel", "--type", "expense", "--json"];
    const added = await runCli(args, { env });
    expect(added).toMatchObject({ code: 0, stderr: "" });
    const account = { glAccountCode: "6000", name: "Travel", type: "expense", active: true };
    expect(JSON.parse(added.stdout)).toEqual(account);
    const again = await run("account", "add", "6000", "Other");
    expect(again).toMatchObject({ code: 6, stdout: "" });
    expect(again.stderr).toContain("already has an account 6000");
    expect(await server.client.listAccounts(server.ledgerId)).toContainEqual(account);
  });

  it("imports a chart and counts what was new", async () => {
    mkdirSync(server.home, { recursive: true });
    const file = join(server.home, "chart.csv");
    const rows = Array.from({ length: 1_500 }, (_, index) => `A${index},Account ${index}`);
    writeFileSync(file, ["glAccountCode,name", ...rows].join("\n"));
    expect((await run("account", "import", file)).stdout).toBe(
      "1500 added, 0 updated, 0 unchanged\n",
    );
    writeFileSync(file, ["glAccountCode,name", "A1,Renamed", "A2,Account 2", "B,New"].join("\n"));
    expect((await run("account", "import", file)).stdout).toBe("1 added, 1 updated, 1 unchanged\n");
  });

  it("deactivates and activates an account, and suggests one where there is none", async () => {
    expect((await run("account", "deactivate", "5000")).stdout).toBe("account 5000 is inactive\n");
    expect((await run("account", "activate", "5000")).stdout).toBe("account 5000 is active\n");
    const unknown = await run("account", "activate", "500");
    expect(unknown).toMatchObject({ code: 5 });
    expect(unknown.stderr).toContain("the ledger has no account 500");
    const used = await run("account", "deactivate", "wallets:USD");
    expect(used).toMatchObject({ code: 0 });
    await run("account", "activate", "wallets:USD");
  });

  it("sets the rule of an asset, refuses to leave wallets without an account, and takes a rate away", async () => {
    const set = await run(
      "asset",
      "set",
      "EUR",
      "--rate",
      "1.0845",
      "--overdraft",
      "500",
      "--json",
    );
    expect(JSON.parse(set.stdout)).toMatchObject({
      ...{ assetCode: "EUR", rate: "1.0845", overdraftLimit: "500", pending: null },
    });
    const used = await run("account", "deactivate", "wallets:EUR");
    expect(used).toMatchObject({ code: 6 });
    expect(used.stderr).toContain('wallets of EUR are posted to account "wallets:EUR"');
    const none = await run(
      "asset",
      "set",
      "EUR",
      "--rate",
      "none",
      "--overdraft",
      "none",
      "--json",
    );
    expect(JSON.parse(none.stdout)).toMatchObject({ rate: null, overdraftLimit: "0" });
    const missing = await run("asset", "set", "EUR", "--wallets-account", "nowhere");
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain("#/walletsAccount");
  });
});

describe("with a key that lacks the scope", () => {
  it("says so and how to get one, and makes no database", async () => {
    const env = withKey(await plainKey());
    for (const args of [
      ["account", "add", "6001", "Nobody"],
      ["asset", "set", "GBP", "--rate", "2"],
    ]) {
      const result = await runHere(args, env);
      expect(result).toMatchObject({ code: 4, stdout: "" });
      expect(result.stderr).toContain("the API key lacks the scope admin");
      expect(result.stderr).toContain("`ledgerctl key create --org ID --scope …` makes one");
      expect(result.stderr).toContain("--data-dir or --database-url does without a key");
      expect(result.stderr).not.toContain("there is no database");
    }
  });
});

describe("where a database is named", () => {
  it("works on it, whatever the profile's key may do", async () => {
    const env = {
      ...withKey(await plainKey()),
      LEDGERCTL_DATABASE_URL: server.env["LEDGERCTL_DATABASE_URL"] ?? "",
    };
    const added = await runHere(["account", "add", "6002", "By environment", "--quiet"], env);
    expect(added).toMatchObject({ code: 0, stderr: "" });
    const { LEDGERCTL_DATABASE_URL: url, ...rest } = env;
    const byFlag = await runHere(
      ["account", "add", "6003", "By flag", "--quiet", "--database-url", url],
      rest,
    );
    expect(byFlag).toMatchObject({ code: 0, stderr: "" });
  });
});

const plainKey = () => server.books.createKey();

describe("where the default data folder has the ledger", () => {
  it("works there if the key lacks the scope or the server does not run, and says so", async () => {
    const home = mkdtempSync(join(tmpdir(), "ledgerctl-default-"));
    const port = String(await freePort());
    const env = { HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
    const serving = await startServerProcess({ args: ["--bootstrap", "--port", port], env });
    try {
      const commands = {
        ...env,
        LEDGERCTL_CONFIG: join(home, "ledgerctl", "config.json"),
        LEDGERCTL_URL: serving.url,
      };
      const lacking = await runCli(["account", "add", "6000", "Travel"], { env: commands });
      expect(lacking).toMatchObject({ code: 0 });
      expect(lacking.stderr).toContain("the API key lacks the scope admin: on the database in");
      await serving.end("SIGTERM");
      const stopped = await runCli(["account", "add", "6001", "Post"], { env: commands });
      expect(stopped).toMatchObject({ code: 0 });
      expect(stopped.stderr).toContain("the server does not run: on the database in");
      const other = await runCli(
        ["account", "add", "6001", "Post", "--ledger", "0190b6a0-0000-7000-8000-000000000001"],
        { env: commands },
      );
      expect(other).toMatchObject({ code: 7 });
    } finally {
      await serving.end("SIGTERM");
      rmSync(home, { recursive: true, force: true });
    }
  });
});
