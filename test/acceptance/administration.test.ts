// The operator's commands: what they print, on which stream, and how they end. The built binary runs each of them, and
// more of their cases run here.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LedgerClient, ServiceProblem, type Ledger } from "../../src/client/ledger-client.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { createTestDatabase, runStatement } from "../support/database.ts";
import { documents, runCli, startCli, type CliResult } from "../support/cli.ts";
import { doctorOnceReady } from "../support/doctor.ts";
import { entry } from "../support/entries.ts";
import { runHere } from "../support/program.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";

let server: BinaryServer;
const nobody = "0190b6a0-0000-7000-8000-000000000001";

beforeAll(async () => {
  server = await startBinaryServer();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const run = (args: string[], env: Record<string, string> = {}) =>
  runHere(args, { ...server.env, ...env });

const runBuilt = (args: string[], env: Record<string, string> = {}, input = "") =>
  runCli(args, { env: { ...server.env, ...env }, input });

/** With a configuration file that others can read: that is said once, and nothing else is. */
async function runWarned(args: string[]): Promise<CliResult> {
  const config = writeHome("open.json", '{"profiles":{}}');
  const result = await run(args, { LEDGERCTL_CONFIG: config });
  const warning = `${config} can be read by others; run chmod 600 on it`;
  const shown = args.includes("--json")
    ? `${JSON.stringify({ warning })}\n`
    : `ledgerctl: ${warning}\n`;
  expect([result.code, result.stderr]).toEqual([0, shown]);
  return result;
}

function writeHome(name: string, content: string): string {
  mkdirSync(server.home, { recursive: true });
  const file = join(server.home, name);
  writeFileSync(file, content);
  return file;
}

describe("organizations and ledgers", () => {
  it("makes an organization, a ledger with a chart and the wallets' pair, and lists them", async () => {
    const made = await runBuilt(["org", "create", "Acmé GmbH", "--json"]);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const org = JSON.parse(made.stdout) as { id: string; name: string };
    expect(org).toEqual({ id: expect.any(String) as string, name: "Acmé GmbH" });
    const orgs = await runBuilt(["org", "list", "--json"]);
    expect(documents(orgs.stdout)).toContainEqual(org);

    const chart = writeHome(
      "chart.csv",
      '\ufeffglAccountCode,name,type,active\r\n1000,"Cash, at hand",asset,\r\n9000,Old,,false\r\n',
    );
    const args = ["--org", org.id, "--currency", "EUR", "--chart", chart, "--json"];
    const created = await runBuilt(["ledger", "create", "Books", ...args]);
    const ledger = JSON.parse(created.stdout) as { id: string };
    expect(ledger).toEqual({
      id: expect.any(String) as string,
      name: "Books",
      status: "active",
      functionalCurrency: "EUR",
      createdAt: expect.stringMatching(/Z$/) as string,
    });
    const list = await runWarned(["ledger", "list", "--json", "--database-url", databaseUrl()]);
    expect(documents(list.stdout)).toContainEqual(ledger);
    const accounts = await runWarned([
      ...["account", "list", "--ledger", ledger.id, "--json"],
      ...["--database-url", databaseUrl()],
    ]);
    expect(documents(accounts.stdout)).toEqual([
      { glAccountCode: "1000", name: "Cash, at hand", type: "asset", active: true },
      { glAccountCode: "9000", name: "Old", type: null, active: false },
      {
        glAccountCode: "wallets-clearing:EUR",
        name: "Wallets clearing EUR",
        type: "asset",
        active: true,
      },
      { glAccountCode: "wallets:EUR", name: "Wallets EUR", type: "liability", active: true },
    ]);
  });

  it("names the line and column of a faulty chart and makes nothing", async () => {
    const before = await server.client.listLedgers();
    const make = (file: string) =>
      run([
        "ledger",
        "create",
        "X",
        "--org",
        server.organizationId,
        "--currency",
        "USD",
        "--chart",
        file,
      ]);
    const double = writeHome("double.csv", "glAccountCode,name\n1,a\n1,b\n");
    expect(await make(double)).toMatchObject({
      code: 2,
      stdout: "",
      stderr: `ledgerctl: ${double}: line 3, column glAccountCode: is the same as on line 2\n`,
    });
    const type = writeHome("type.csv", "glAccountCode,name,type\n1,a,cash\n");
    expect((await make(type)).stderr).toContain("line 2, column type: must be one of asset");
    const header = writeHome("header.csv", "code,name\n1,a\n");
    expect((await make(header)).stderr).toContain(
      "line 1: the header lacks the column glAccountCode",
    );
    const empty = writeHome("empty.csv", "");
    expect((await make(empty)).stderr).toContain("the file is empty; its first line names");
    const semicolons = writeHome("semicolons.csv", "glAccountCode;name\n1;a\n");
    expect((await make(semicolons)).stderr).toContain("separated by semicolons");
    expect(await make(join(server.home, "none.csv"))).toMatchObject({
      code: 2,
      stderr: `ledgerctl: ${join(server.home, "none.csv")} can't be read: there is no such file\n`,
    });
    expect(await server.client.listLedgers()).toEqual(before);
  });

  it("finds no organization of an id or a name that none has", async () => {
    const make = (org: string) => run(["ledger", "create", "X", "--org", org, "--currency", "USD"]);
    expect(await make(nobody)).toMatchObject({ code: 5, stdout: "" });
    expect(await make("acme")).toMatchObject({
      code: 5,
      stderr: 'ledgerctl: there is no organization "acme"\n',
    });
  });

  it("takes a currency's code in any case as that currency, and suspends, activates and closes a ledger, asking before it closes", async () => {
    const make = (currency: string) => {
      const args = ["--org", server.organizationId, "--currency", currency, "--json"];
      return run(["ledger", "create", "To close", ...args]);
    };
    expect(await make("E U R")).toMatchObject({ code: 2, stdout: "" });
    const { id, functionalCurrency } = JSON.parse((await make("eur")).stdout) as Ledger;
    expect(functionalCurrency).toBe("EUR");
    const change = async (verb: string, ...more: string[]) =>
      runBuilt(["ledger", verb, id, "--json", ...more]);
    expect(JSON.parse((await change("suspend")).stdout)).toMatchObject({ status: "suspended" });
    const suspended = await run(["doctor"], { LEDGERCTL_LEDGER: id });
    expect(suspended.code).toBe(6);
    expect(suspended.stdout).toMatch(
      /FAIL  ledger +\S.* is suspended: it takes no writes\n.*ledgerctl ledger activate [-0-9a-f]{36}/,
    );
    expect(JSON.parse((await change("activate")).stdout)).toMatchObject({ status: "active" });
    const unasked = await change("close");
    expect(unasked).toMatchObject({ code: 2, stdout: "" });
    expect(JSON.parse(unasked.stderr)).toMatchObject({
      error: { message: expect.stringMatching(/say --yes to go ahead\.$/) as string, exit: 2 },
    });
    expect(JSON.parse((await change("close", "--yes")).stdout)).toMatchObject({ status: "closed" });
    expect(await change("activate")).toMatchObject({ code: 6, stdout: "" });
    expect(await run(["ledger", "suspend", nobody])).toMatchObject({ code: 5 });
  });
});

describe("names of others", () => {
  const name = "Evil\u001b]0;owned\u0007\u009b2J\u202egnp\nfake  row";
  const shown = "Evil\\u001b]0;owned\\u0007\\u009b2J\\u202egnp\\u000afake  row";

  it("command no terminal, from a table, a message or JSON", async () => {
    await run(["org", "create", name]);
    expect((await run(["org", "list"])).stdout).toContain(shown);
    const added = await run(["account", "add", name, name]);
    expect(added.stdout).toContain(shown);
    expect(added.stderr).toContain("has no type: statements list it apart");
    // Two ways to the rows, one way to print them.
    expect((await runWarned(["account", "list"])).stdout).toContain(`${shown}  ${shown}`);
    const where = ["--database-url", databaseUrl()];
    const { stdout } = await run(["account", "list", "--json", ...where]);
    const account = { glAccountCode: name, name, type: null, active: true };
    expect(documents(stdout)).toContainEqual(account);
    expect(stdout).not.toContain("\u009b");
    const again = await run(["account", "add", name, name]);
    expect(again).toMatchObject({ code: 6, stdout: "" });
    expect(again.stderr).toContain(shown.replace("\\u000a", "\n"));
    const quiet = await run(["account", "add", `${name}2`, name, "--quiet"]);
    expect(quiet.stdout).not.toContain("\u001b");
    const mistyped = await run(["org", "list", "--\u001b[2J"]);
    expect(mistyped.code).toBe(2);
    expect(mistyped.stderr).not.toContain("\u001b");
    const signed = ["sign", "POST", "/v1/x", "--body", "-", "--format", "curl"];
    expect((await runBuilt(signed, {}, '"\u009b"')).stdout).toContain("base64 -d");
  });
});

describe("accounts", () => {
  it("adds, imports again without deleting, and switches", async () => {
    const added = await runBuilt([
      "account",
      "add",
      "6000",
      "Travel",
      "--type",
      "expense",
      "--json",
    ]);
    expect(JSON.parse(added.stdout)).toEqual({
      glAccountCode: "6000",
      name: "Travel",
      type: "expense",
      active: true,
    });
    expect(await run(["account", "add", "", "Nothing"])).toMatchObject({ code: 2 });
    const deactivated = await runBuilt(["account", "deactivate", "6000", "--json"]);
    expect(JSON.parse(deactivated.stdout)).toMatchObject({ active: false });
    const file = writeHome("more.csv", "name,glAccountCode\nTravel and hotels,6000\nMeals,6100\n");
    const imported = await runBuilt(["account", "import", file, "--json"]);
    expect(JSON.parse(imported.stdout)).toEqual({ added: 1, updated: 1 });
    const again = await run(["account", "import", file]);
    expect(again.stdout).toBe("0 added, 0 updated, 2 unchanged\n");
    const list = documents<{ glAccountCode: string }>(
      (await runBuilt(["account", "list", "--json"])).stdout,
    );
    // What the file does not say (type, active) stays as it was.
    expect(list.find(({ glAccountCode }) => glAccountCode === "6000")).toEqual({
      glAccountCode: "6000",
      name: "Travel and hotels",
      type: "expense",
      active: false,
    });
    const active = await run(["account", "list", "--active-only", "--json"]);
    expect(active.stdout).not.toContain('"6000"');
    expect(active.stdout).toContain('"6100"');
    expect(await run(["account", "activate", "nope"])).toMatchObject({ code: 5 });
  });
});

describe("keys", () => {
  it("shows a secret once; a key with fewer scopes, and one that is revoked, are refused", async () => {
    const made = await runBuilt([
      ...["key", "create", "--org", server.organizationId, "--scope", "read"],
      ...["--expires-in", "12h", "--json"],
    ]);
    const key = JSON.parse(made.stdout) as { apiKey: string; apiSecret: string; expiresAt: string };
    expect(key.apiKey).toMatch(/^lk_[\w-]{22}$/);
    expect(key.apiSecret).toMatch(/^ls_[\w-]{43}$/);
    const lifetimeMs = Date.parse(key.expiresAt) - Date.now();
    expect(lifetimeMs).toBeGreaterThan(11 * 3_600_000);
    expect((await runBuilt(["key", "list"])).stdout).not.toContain(key.apiSecret);
    const client = new LedgerClient({ url: server.url, ...key });
    await client.listLedgers();
    await expect(client.postEntry(server.ledgerId, entry())).rejects.toMatchObject({ status: 403 });
    expect((await runBuilt(["key", "revoke", key.apiKey])).code).toBe(0);
    await until("the key is refused", () =>
      client.listLedgers().then(
        () => false,
        (error: unknown) => error instanceof ServiceProblem && error.status === 401,
      ),
    );
    await client.close();
    const asKey = { LEDGERCTL_API_KEY: key.apiKey, LEDGERCTL_API_SECRET: key.apiSecret };
    expect(await run(["ledger", "list"], asKey)).toMatchObject({ code: 4, stdout: "" });
    expect(await run(["key", "revoke", "lk_0123456789abcdefghijkl"])).toMatchObject({ code: 5 });
  });

  it("prints the key and its secret on one line with --quiet", async () => {
    const made = await run(["key", "create", "--org", server.organizationId, "--quiet"]);
    expect(made.stdout).toMatch(/^lk_[\w-]{22} ls_[\w-]{43}\n$/);
    expect(made.stderr).toBe("");
    const [apiKey = "", apiSecret = ""] = made.stdout.trim().split(" ");
    const client = new LedgerClient({ url: server.url, apiKey, apiSecret });
    await client.listLedgers();
    await client.close();
  });

  it("refuses to start a server, or to make a key, under another master key", async () => {
    const other = { LEDGERCTL_MASTER_KEY: Buffer.alloc(32, 7).toString("base64") };
    const serve = await runBuilt(["serve", "--port", "0"], other);
    expect(serve).toMatchObject({ code: 2, stdout: "" });
    expect(serve.stderr).toContain("LEDGERCTL_MASTER_KEY");
    expect((await run(["key", "create", "--org", server.organizationId], other)).code).toBe(2);
    const missing = await runBuilt(["serve", "--port", "0"], { LEDGERCTL_MASTER_KEY: "" });
    expect(missing).toMatchObject({ code: 2, stdout: "" });
    const short = await runBuilt(["serve", "--port", "0"], { LEDGERCTL_MASTER_KEY: "c2hvcnQ=" });
    expect(short).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("sign and request", () => {
  it("signs what the server accepts, as headers, as JSON and as a curl call", async () => {
    const headers = await runBuilt(["sign", "get", "/v1/ledgers"]);
    const parsed = Object.fromEntries(
      headers.stdout
        .trim()
        .split("\n")
        .map((line) => line.split(": ") as [string, string]),
    );
    const reply = await fetch(`${server.url}/v1/ledgers`, { headers: parsed });
    expect(reply.status).toBe(200);
    const json = await run([
      "sign",
      "GET",
      "/v1/ledgers",
      "--timestamp",
      "1767225600",
      "--format",
      "json",
    ]);
    expect(JSON.parse(json.stdout)).toMatchObject({ timestamp: "1767225600", method: "GET" });
    const curl = await run(["sign", "GET", "/v1/ledgers", "--format", "curl"]);
    expect(curl.stdout).toMatch(/^curl .*X-Signature: [0-9a-f]{64}/);
  });

  it("sends a request, prints the reply, shows both but the secret with --verbose, and ends with what its status stands for", async () => {
    const ok = await runBuilt(["request", "GET", "/v1/ledgers", "--verbose"]);
    expect(ok.code).toBe(0);
    expect(JSON.parse(ok.stdout)).toHaveProperty("ledgers");
    expect(ok.stderr).toMatch(/^> GET \/v1\/ledgers\n< 200 in .* ms, request .*\n/);
    expect(ok.stderr + ok.stdout).not.toContain(server.env["LEDGERCTL_API_SECRET"]);
    const missing = await run(["request", "GET", `/v1/ledgers/${nobody}`]);
    expect(missing.code).toBe(5);
    expect(JSON.parse(missing.stdout)).toMatchObject({ status: 404 });
    const path = `/v1/ledgers/${server.ledgerId}/journal-entries`;
    const invalid = await runBuilt(["request", "POST", path, "--body", "-"], {}, '{"lines":[]}');
    expect(invalid.code).toBe(2);
    expect(await run(["request", "GET", "v1/ledgers"])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("migrate, doctor and serve", () => {
  it("lists migrations, and has nothing to apply on a migrated database", async () => {
    const status = documents((await runBuilt(["migrate", "--status", "--json"])).stdout);
    expect(status).toContainEqual({ name: "0001_books", applied: true });
    expect(JSON.parse((await runBuilt(["migrate", "--json"])).stdout)).toEqual({ applied: [] });
  });

  it("finds nothing wrong where nothing is, and names what is wrong with a remedy", async () => {
    const found = await doctorOnceReady(() => runBuilt(["doctor", "--json"]));
    const well = JSON.parse(found.stdout) as {
      ok: boolean;
      checks: { name: string; ok: boolean; note: boolean }[];
    };
    expect(well.ok).toBe(true);
    expect(well.checks.filter(({ note }) => note)).toMatchObject([
      { name: "logs", ok: true },
      { name: "backup", ok: true },
    ]);
    expect(well.checks.map(({ name }) => name)).toEqual([
      ...["configuration", "connection", "clock", "readiness", "credentials", "ledger"],
      ...["currencies", "logs", "migrations", "postings", "deliveries", "backup"],
    ]);
    const byName = await run(["doctor"], { LEDGERCTL_LEDGER: "Main" });
    expect(byName.stdout).toMatch(/^ok {4}ledger +Main is active\n/m);
    const secret = { LEDGERCTL_API_SECRET: "ls_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" };
    const wrong = await doctorOnceReady(() => run(["doctor"], secret));
    expect(wrong.code).toBe(4);
    expect(wrong.stdout).toContain("FAIL  credentials");
    const port = await freePort();
    const away = await run(["doctor"], { LEDGERCTL_URL: `http://127.0.0.1:${port}` });
    expect(away).toMatchObject({ code: 7 });
  });

  it("`doctor` tells why a write would not succeed", async () => {
    const database = server.env["LEDGERCTL_DATABASE_URL"] ?? "";
    await runStatement(database, "ALTER TABLE commit_probes RENAME TO away");
    try {
      await until("not ready", async () => (await fetch(`${server.url}/readyz`)).status === 503);
      const asked = await run(["doctor"]);
      expect(asked.code).toBe(7);
      expect(asked.stdout).toMatch(/^FAIL {2}readiness +the database lacks a table: run/m);
    } finally {
      await runStatement(database, "ALTER TABLE away RENAME TO commit_probes");
    }
    await until("ready again", async () => (await fetch(`${server.url}/readyz`)).ok);
  });

  it("`doctor` reaches a server behind a proxy that passes on nothing but /v1/", async () => {
    const proxy = createHttpServer(({ url = "", method, headers }, answer) => {
      void (async () => {
        if (!url.startsWith("/v1/")) return answer.writeHead(404).end();
        const { host, connection, ...passed } = headers;
        const init = { method: method ?? "GET", headers: passed as Record<string, string> };
        const reply = await fetch(new URL(url, server.url), init);
        return answer.writeHead(reply.status).end(await reply.text());
      })();
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    try {
      const { port } = proxy.address() as AddressInfo;
      const asked = await run(["doctor"], { LEDGERCTL_URL: `http://127.0.0.1:${port}` });
      expect(asked.stdout).toMatch(/^ok {4}connection .*\n((ok {2}|note) {2}.*\n)+$/m);
      expect(asked.code).toBe(0);
      expect(asked.stdout).toMatch(/^note {2}readiness +can't be seen here/m);
    } finally {
      proxy.close();
    }
  });

  it("ends with 7 where nothing answers, and with 2 where no key is configured", async () => {
    const port = await freePort();
    const away = await runBuilt(["ledger", "list"], { LEDGERCTL_URL: `http://127.0.0.1:${port}` });
    expect(away).toMatchObject({ code: 7, stdout: "" });
    const database = "postgresql://nobody:x@127.0.0.1:1/none";
    expect(await run(["org", "list"], { LEDGERCTL_DATABASE_URL: database })).toMatchObject({
      code: 7,
    });
    const socket = "postgresql://nobody:x@/none?host=/nowhere";
    const nothing = await run(["org", "list"], { LEDGERCTL_DATABASE_URL: socket });
    expect(nothing.code).toBe(7);
    expect(nothing.stderr).toContain("there is no socket /nowhere/.s.PGSQL.5432");
    const keyless = { LEDGERCTL_API_KEY: "", LEDGERCTL_API_SECRET: "" };
    expect(await run(["balance", "1000"], keyless)).toMatchObject({ code: 2, stdout: "" });
  });

  it("works on a database of several hosts, names the one that serves, and shows no password", async () => {
    const one = new URL(server.env["LEDGERCTL_DATABASE_URL"] ?? "");
    one.password ||= "hidden";
    const several = one.href.replace("@", "@127.0.0.1:1,");
    const env = { LEDGERCTL_DATABASE_URL: `${several}?target_session_attrs=read-write` };
    const { checks } = JSON.parse((await runBuilt(["doctor", "--json"], env)).stdout) as {
      checks: { name: string; ok: boolean; detail: string }[];
    };
    const host = decodeURIComponent(one.hostname);
    expect(checks).toContainEqual({
      name: "database",
      ok: true,
      note: false,
      detail: `${host}:${one.port} serves, of 127.0.0.1:1, ${host}:${one.port}`,
      remedy: null,
    });
    const listed = await run(["org", "list", "--verbose"], env);
    expect(listed).toMatchObject({ code: 0 });
    expect(listed.stderr).toContain(`:********@${one.host}/`);
    expect(listed.stderr).not.toContain(one.password);
    const none = await run(["org", "list"], {
      LEDGERCTL_DATABASE_URL: "postgresql://u:hidden@127.0.0.1:1,127.0.0.1:2/none",
    });
    expect(none).toMatchObject({ code: 7 });
    expect(none.stderr).toMatch(/127\.0\.0\.1:1: .*; 127\.0\.0\.1:2: /);
    expect(none.stderr).not.toContain("hidden");
    const standby = await run(["org", "list"], {
      LEDGERCTL_DATABASE_URL: "postgresql://u:hidden@a,b/none?target_session_attrs=standby",
    });
    expect(standby).toMatchObject({ code: 2 });
    expect(standby.stderr).toContain("must be read-write, primary or any, and not standby");
  });

  it("does not make a second bootstrap, and says so by making nothing", async () => {
    const { child, result } = startCli(["serve", "--bootstrap", "--json", "--port", "0"], {
      env: server.env,
    });
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    child.kill("SIGINT");
    const ended = await result;
    expect(ended.code).toBe(0);
    expect(documents<{ event: string }>(ended.stdout).map(({ event }) => event)).toEqual(["ready"]);
    expect(ended.stderr).toContain("--bootstrap made nothing");
    expect(ended.stderr).toContain("ledgerctl key create --org ID");
  });

  it.each([
    ["is not there", null, /They are saved as profile "local" in /],
    ["has a profile local", { profiles: { local: {} } }, /"local" was in \S+ already and was left/],
    ["is a pipe", "pipe", /Try, in another terminal:\n\n {2}export LEDGERCTL_URL=/],
  ])("bootstraps where the configuration file %s", async (_, content, said) => {
    const config = join(server.home, "bootstrap.json");
    rmSync(config, { force: true });
    if (content === "pipe") execFileSync("mkfifo", [config]);
    else if (content !== null) writeFileSync(config, JSON.stringify(content), { mode: 0o600 });
    const database = await createTestDatabase();
    const env = { ...server.env, LEDGERCTL_DATABASE_URL: database.url, LEDGERCTL_CONFIG: config };
    const { child, result } = startCli(["serve", "--bootstrap", "--port", "0"], { env });
    await new Promise<void>((resolve) => {
      child.stdout?.on("data", (text: string) => {
        if (text.includes("ledgerctl is ready at")) resolve();
      });
    });
    child.kill("SIGTERM");
    const { code, stdout, stderr } = await result;
    expect(code).toBe(0);
    expect(stdout).toMatch(/API secret {4}ls_\S{43} /);
    expect(stdout).toMatch(said);
    if (content === "pipe") expect(stderr).toContain(`${config} is no regular file`);
    await database.drop();
  });

  it.each([
    ["org list"],
    ["ledger list"],
    ["key list"],
    ["migrate --status"],
    [`asset list --ledger ${nobody}`],
    [`account list --ledger ${nobody}`],
    [`ledger suspend ${nobody}`],
    [`key create --org ${nobody}`],
  ])("makes no database for %s", async (command) => {
    const dataDir = join(server.home, "nothing-here");
    const env = { HOME: server.home, LEDGERCTL_DATA_DIR: dataDir };
    const refused = await runHere(command.split(" "), env);
    expect(refused).toMatchObject({ code: 7, stdout: "" });
    expect(refused.stderr).toContain(`there is no database in ${dataDir} yet`);
    expect(existsSync(dataDir)).toBe(false);
  });

  it.runIf(process.getuid?.() === 0)("tells root where the database went", async () => {
    const dataDir = join(mkdtempSync(join(tmpdir(), "ledgerctl-private-")), "data");
    const { child, result } = startCli(["serve", "--port", "0", "--data-dir", dataDir], {
      env: { HOME: server.home },
    });
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    child.kill("SIGTERM");
    const { stderr } = await result;
    const said =
      /The database of (\S+) is in (\/var\/lib\/ledgerctl\/[0-9a-f]{16}-[0-9a-f]{8}):/.exec(stderr);
    expect(said?.[1]).toBe(dataDir);
    expect(existsSync(join(said?.[2] ?? "", "postgres", "PG_VERSION"))).toBe(true);
    rmSync(said?.[2] ?? "", { recursive: true });
    rmSync(dirname(dataDir), { recursive: true });
  });

  it("says that a port is taken", async () => {
    const taken = new URL(server.url).port;
    const second = await runBuilt(["serve", "--port", taken]);
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toContain("something else is listening there");
  });

  it("tells a mistyped command, with a suggestion", async () => {
    const command = await runBuilt(["ledgr", "list"]);
    expect(command).toMatchObject({ code: 2, stdout: "" });
    expect(command.stderr).toContain("ledger");
    expect(await runBuilt(["--version"])).toMatchObject({ code: 0, stdout: "0.1.0\n", stderr: "" });
  });

  it("warns once about a configuration file that others can read", async () => {
    // Lists of the database and of accounts are tried above.
    await runWarned(["ledger", "list"]);
  });

  it("refuses a value of the environment that it can't use, naming the variable", async () => {
    const refused = await run(["ledger", "list"], { LEDGERCTL_LOG_LEVEL: "loud" });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("LEDGERCTL_LOG_LEVEL");
  });
});

function databaseUrl(): string {
  return server.env["LEDGERCTL_DATABASE_URL"] ?? "";
}
