// What commands say of arguments that they can't use: one message, exit code 2, before anything is asked of a service or
// a database. Nothing answers where these would ask. What the built program does with such a refusal is in test/acceptance.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../support/program.ts";

const nobody = "0190b6a0-0000-7000-8000-000000000001";
const env = {
  LEDGERCTL_URL: "http://127.0.0.1:9",
  LEDGERCTL_API_KEY: "lk_AAECAwQFBgcICQoLDA0ODw",
  LEDGERCTL_API_SECRET: `ls_${"x".repeat(43)}`,
  LEDGERCTL_LEDGER: nobody,
  LEDGERCTL_DATABASE_URL: "postgresql://nobody@127.0.0.1:9/none",
};

type Case = readonly [args: readonly string[], message: RegExp];

const usd = ["--asset", "USD"];

const cases: Readonly<Record<string, readonly Case[]>> = {
  wallet: [
    [["credit", "k", "1.50", ...usd], /AMOUNT must be a whole number .*"1\.50"; with --major/],
    [["credit", "k", "0", ...usd], /AMOUNT must be above zero/],
    [["credit", "k", "9".repeat(39), ...usd], /AMOUNT must have at most 38 digits/],
    [["debit", "k", "ten", ...usd], /AMOUNT must be a whole number/],
    [["credit", "k", "1"], /--asset/],
    [["credit", "k", "1", "--asset", "U S"], /--asset must be 1 to 32 letters/],
    [["credit", "", "1", ...usd], /KEY must not be empty/],
    [["credit", `${nobody}:`, "1", ...usd], /KEY must not be empty/],
    [["credit", "k", "1", ...usd, "--external-id", ""], /--external-id must not be empty/],
    [["reserve", "k", "1", ...usd, "--expires-in", "soon"], /--expires-in must be a duration/],
    [["reserve", "k", "1", ...usd, "--expires-in", "366d"], /--expires-in must be at most 365d/],
    [["history", "k", "--limit", "-1"], /--limit must be a whole number/],
    [["tail", "a", "b", "--since", "3"], /--since goes with one KEY/],
    [["tail"], /missing required argument/],
  ],
  entry: [
    [["post", "--line", "1000:1", "nowhere.json"], /either --line or a file/],
    [["post", "--line", "1000"], /--line must be CODE:AMOUNT/],
    [["post", "--line", "1000:1.50"], /1\.50 is no whole number; with --major/],
    [
      ["post", "--line", "1000:1", "--date", "15.3.2026"],
      /--date must be a day such as 2026-03-15/,
    ],
    [
      ["post", "--line", "1000:1", "--date", "2026-02-30"],
      /^ledgerctl: --date 2026-02-30 is no date: 2026-02 has the days 01 to 28\n$/,
    ],
    [["post", "--line", "1000:1", "--meta", "x"], /--meta must be KEY=VALUE/],
    [["post", "--concurrency", "0", "-"], /--concurrency must be a whole number from 1 to 256/],
    [["post", "--format", "xml", "-"], /--format must be one of json, ndjson, csv/],
    [["post", "--description", "x", "-"], /--description goes with --line/],
    [["show", ""], /ID is empty/],
    [["reverse", ""], /ID is empty/],
    [["correct", ""], /ID is empty/],
    [["post", "nowhere.json"], /nowhere\.json can't be read: there is no such file/],
  ],
  bench: [
    [["entries", "--rate", "0"], /--rate must be a whole number from 1/],
    [["entries", "--duration", "10"], /--duration must be a duration/],
    [["entries", "--connections", "0"], /--connections must be a whole number/],
    [["entries", "--accounts", "1000"], /--accounts must be two accounts/],
    [["entries", "--accounts", "1000,1000"], /--accounts must be two accounts/],
    [["wallets", "--hot", "--wallets", "5"], /--hot writes one wallet/],
    [["wallets", "--balances", "--bulk", "5"], /--balances reads one balance a request/],
    [["entries", "--hot"], /unknown option/],
    [["entries", "--url", "localhost:8420"], /--url must be an http:\/\/ or https:\/\/ URL/],
  ],
  "trial-balance": [
    [
      ["--period", "2026-1"],
      /^ledgerctl: --period "2026-1" looks like a date, but is none of 2026,/,
    ],
  ],
  asset: [
    [["set", "E U R", "--rate", "1"], /CODE must be 1 to 32 letters/],
    [["set", "EUR"], /nothing to change: give --rate/],
    [["set", "EUR", "--rate", "0"], /--rate must be an exact decimal above zero/],
    [["set", "EUR", "--rate", "1e3"], /--rate must be an exact decimal/],
    [["set", "EUR", "--exponent", "19"], /--exponent must be a whole number from 0 to 18/],
    [["set", "EUR", "--overdraft", "1.5"], /--overdraft must be a whole number/],
    [["set", "EUR", "--wallets-account", ""], /--wallets-account must not be empty/],
    [
      ["set", "EUR", "--wallets-account", "1000", "--clearing-account", "1000"],
      /--wallets-account and --clearing-account must be two accounts/,
    ],
    [["list", "--ledger", ""], /--ledger must not be empty/],
  ],
  key: [
    [["create", "--org", nobody, "--scope", "write"], /--scope write is not known/],
    [["create", "--org", nobody, "--name", ""], /--name must not be empty/],
    [["create", "--org", nobody, "--name", "x".repeat(257)], /--name must have at most 256/],
    ...["90", "0d", "-1d", "1w", "1.5h"].map((lifetime): Case => [
      ["create", "--org", nobody, "--expires-in", lifetime],
      /--expires-in must be a duration/,
    ]),
  ],
  export: [
    [["--format", "qif"], /--format must be one of hledger, beancount/],
    [["--format", "csv", "--period", "2026-01", "--to", "2026-02-01"], /leave out --from/],
  ],
  config: [
    [["set", "apikey", "x"], /Did you mean api-key\?/],
    [["set", "url", "books.example"], /url must be an http:\/\/ or https:\/\/ URL/],
  ],
};

describe.each(Object.entries(cases))("%s", (noun, those) => {
  it.each(those)("refuses %j", async (args, message) => {
    const { code, stdout, stderr } = await runHere([noun, ...args], env);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    // No stack.
    expect(stderr).not.toMatch(/\.[jt]s:\d+/);
  });
});

describe("a URL that is none", () => {
  const given = "127.0.0.1:8420";

  it.each([
    [["balance", "1000"], { LEDGERCTL_URL: given }, `LEDGERCTL_URL must be an http:// or`],
    [["balance", "1000", "--url", given], {}, "--url must be an http:// or https:// URL"],
    [["top", "--json", "--metrics-url", given], {}, "--metrics-url must be an http:// or"],
  ])("is named by where it comes from: %j %j", async (args, variables, message) => {
    const { code, stderr } = await runHere(args, { ...env, ...variables });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).toContain(given);
  });

  it("is named by its profile", async () => {
    const folder = mkdtempSync(join(tmpdir(), "ledgerctl-url-"));
    const file = join(folder, "config.json");
    const { LEDGERCTL_API_KEY: apiKey, LEDGERCTL_API_SECRET: apiSecret } = env;
    const profiles = { books: { url: given, apiKey, apiSecret } };
    writeFileSync(file, JSON.stringify({ profiles }), { mode: 0o600 });
    const variables = { LEDGERCTL_CONFIG: file, LEDGERCTL_PROFILE: "books" };
    const { code, stderr } = await runHere(["ledger", "list"], variables);
    rmSync(folder, { recursive: true });
    expect([code, stderr]).toEqual([2, expect.stringContaining("the url of profile books must")]);
  });
});
