// Profiles and settings through the binary: secrets come in by stdin or a prompt, and never come out.
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { documents, runCli } from "../support/cli.ts";
import { runHere } from "../support/program.ts";
import { startServerProcess } from "../support/server-process.ts";
import { runOnTerminal } from "../support/terminal.ts";

const home = mkdtempSync(join(tmpdir(), "ledgerctl-settings-"));
const file = join(home, ".config", "ledgerctl", "config.json");
const env = { HOME: home };
const run = (args: string[], more = {}) => runHere(args, { LEDGERCTL_CONFIG: file, ...more });
const apiKey = "lk_AAECAwQFBgcICQoLDA0ODw";
const secret = `ls_${"s3cret-".repeat(6)}x`;
const ledger = "01a1f929-c7b6-727f-ac61-35579962ed4c";

afterAll(() => {
  rmSync(home, { recursive: true });
});

const config = () =>
  JSON.parse(readFileSync(file, "utf8")) as {
    currentProfile: string;
    profiles: Record<string, Record<string, string>>;
  };

it("has a server warn of variables that are no settings, and name the nearest", async () => {
  const server = await startServerProcess({
    args: ["--port", "0", "--data-dir", join(home, "data")],
    env: { LEDGERCTL_GRACE_SM: "5000", LEDGERCTL_ALTOGETHER_ELSE: "1", LEDGERCTL_GRACE_MS: "1000" },
  });
  const told = server.stderr();
  await server.end("SIGTERM");
  const effect = "is set in the environment and has no effect: there is no such setting";
  expect(told).toContain(`LEDGERCTL_GRACE_SM ${effect}. Did you mean LEDGERCTL_GRACE_MS?`);
  expect(told).toContain(`LEDGERCTL_ALTOGETHER_ELSE ${effect}"`);
  expect(told).not.toContain("LEDGERCTL_GRACE_MS is set");
});

it("makes a profile, setting by setting", async () => {
  const url = await runCli(["config", "set", "url", "https://books.example"], { env });
  expect(url).toEqual({
    code: 0,
    stdout: "url of profile default is https://books.example\n",
    stderr: `profile default was made in ${file}\n`,
  });
  expect((await runCli(["config", "set", "api-key"], { env, input: `${apiKey}\n` })).code).toBe(0);
  const byName = await runCli(["config", "set", "ledger", "Books of 2026"], { env });
  expect([byName.code, byName.stdout]).toEqual([0, "ledger of profile default is Books of 2026\n"]);
  expect((await runCli(["config", "set", "ledger", ledger], { env })).code).toBe(0);
  const set = await runCli(["config", "set", "api-secret"], { env, input: `${secret}\n` });
  expect(set).toEqual({
    code: 0,
    stdout: "api-secret of profile default is ls_********\n",
    stderr: "",
  });
  expect(config()).toEqual({
    currentProfile: "default",
    profiles: { default: { url: "https://books.example", apiKey, apiSecret: secret, ledger } },
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it("asks for a secret on a terminal and does not show what is typed", async () => {
  const { code, shown } = await runOnTerminal(["config", "set", "api-secret", "--profile", "two"], {
    env,
    question: "api-secret: ",
    answer: `${secret}\r`,
  });
  expect(code).toBe(0);
  expect(shown).not.toContain("s3cret");
  expect(shown).toContain("ls_********");
  expect(config().profiles["two"]).toEqual({ apiSecret: secret });
  expect(config().currentProfile).toBe("default");
});

it("asks for what is no secret openly, and changes nothing on Ctrl-C", async () => {
  const typed = await runOnTerminal(["config", "set", "url", "--profile", "two"], {
    env,
    question: "url: ",
    answer: "http://127.0.0.1:1\r",
  });
  expect([typed.code, config().profiles["two"]?.["url"]]).toEqual([0, "http://127.0.0.1:1"]);
  expect(typed.shown).toContain("http://127.0.0.1:1");
  const before = readFileSync(file, "utf8");
  const given = await runOnTerminal(["config", "set", "api-secret"], {
    env,
    question: "api-secret: ",
    answer: "ls_half\u0003",
  });
  expect(given.code).toBe(130);
  expect(given.shown).not.toContain("half");
  expect(readFileSync(file, "utf8")).toBe(before);
});

it("refuses a secret as an argument, and never repeats one", async () => {
  const refused = await run(["config", "set", "api-secret", secret]);
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toMatch(/^ledgerctl: a secret is never an argument/);
  expect(refused.stderr).not.toContain(secret);
  for (const key of ["url", "api-key", "api-secret", "ledger"]) {
    const { code, stdout, stderr } = await runCli(["config", "set", key], {
      env,
      input: `${secret}tail`,
    });
    expect([key, code, stdout]).toEqual([key, 2, ""]);
    expect(stderr).not.toContain("s3cret");
  }
});

it("lists settings with where they come from", async () => {
  const { stdout } = await run(["config", "list", "--url", "http://flag.example", "--json"], {
    LEDGERCTL_LEDGER: "from-env",
  });
  expect(documents(stdout)).toEqual([
    { key: "url", value: "http://flag.example", source: "--url" },
    { key: "api-key", value: apiKey, source: "profile default" },
    { key: "api-secret", value: "ls_********", source: "profile default" },
    { key: "ledger", value: "from-env", source: "LEDGERCTL_LEDGER" },
  ]);
  const people = await run(["config", "list"], { LEDGERCTL_CONFIG: join(home, "none.json") });
  expect(people.stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["KEY", "VALUE", "FROM"],
    ["url", "http://127.0.0.1:8420", "default"],
    ["api-key", "not set"],
    ["api-secret", "not set"],
    ["ledger", "not set"],
    [""],
  ]);
});

it("lists, shows and chooses profiles, secrets masked", async () => {
  const listed = await runCli(["profile", "list", "--json"], { env });
  expect(documents(listed.stdout)).toEqual([
    {
      ...{ name: "default", current: true, url: "https://books.example" },
      ...{ apiKey, apiSecret: "ls_********", ledger },
    },
    {
      ...{ name: "two", current: false, url: "http://127.0.0.1:1" },
      ...{ apiKey: null, apiSecret: "ls_********", ledger: null },
    },
  ]);
  expect((await run(["profile", "list"])).stdout).not.toContain("s3cret");
  expect(await runCli(["profile", "use", "two"], { env })).toEqual({
    code: 0,
    stdout: "profile two is in use from now on\n",
    stderr: "",
  });
  const shown = await run(["profile", "show"]);
  expect(shown.stdout).toBe(
    "name       two\ncurrent    true\nurl        http://127.0.0.1:1\napiKey\napiSecret  ls_********\nledger\n",
  );
  expect((await run(["profile", "show", "default", "--json"])).stdout).not.toContain("s3cret");
});

it.each([
  [["profile", "use", "defualt"], 5, "Did you mean default?"],
  [["profile", "show", "towo"], 5, "Did you mean two?"],
  [["request", "GET", "/v1/ledgers", "--profile", "defautl"], 5, "Did you mean default?"],
])("says of %j what was meant", async (args, code, hint) => {
  const ended = await run(args);
  expect([ended.code, ended.stdout]).toEqual([code, ""]);
  expect(ended.stderr).toContain(hint);
});

it("keeps secrets out of what --verbose shows", async () => {
  const { stderr } = await runCli(["request", "GET", "/v1/ledgers", "--verbose"], {
    env: {
      ...env,
      LEDGERCTL_API_KEY: apiKey,
      LEDGERCTL_API_SECRET: secret,
    },
  });
  expect(stderr).toContain("> GET /v1/ledgers");
  expect(stderr).not.toContain("s3cret");
});
