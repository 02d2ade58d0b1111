// A month in the life of four who share a ledger: an operator, an accountant, an auditor and a script of a CI.
// All goes through the binary, each step is checked for what it prints, where, and how it ends.
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  LedgerClient,
  ServiceProblem,
  type SignedHttpOptions,
} from "../../src/client/ledger-client.ts";
import type { Close } from "../../src/contract/types.ts";
import { documents, runCli, type CliResult } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { doctorOnceReady } from "../support/doctor.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { runOnTerminal } from "../support/terminal.ts";
import { until } from "../support/until.ts";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
const hash = "[0-9a-f]{64}";

const root = mkdtempSync(join(tmpdir(), "ledgerctl-month-"));
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let server: ServerProcess;
let operatorEnv: Record<string, string>;

/** Everybody has a home, and there a profile; nobody's environment has a secret. */
const homeOf = (who: string) => join(root, who);
const configOf = (who: string) => join(homeOf(who), ".config", "ledgerctl", "config.json");
const fileOf = (who: string, name: string) => join(homeOf(who), name);

type Say = string | RegExp;

interface Seeded {
  readonly ledgerId: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly closes: readonly Close[];
}

interface Step {
  readonly who: "operator" | "accountant" | "auditor" | "ci";
  readonly args: readonly string[];
  readonly input?: string;
  readonly code?: number;
  readonly out?: Say;
  readonly err?: Say;
}

/** One command, which prints and ends as it should. What is not named is silent, and ends with 0. */
async function step({ who, args, input, code = 0, out = "", err = "" }: Step): Promise<string> {
  const env = who === "operator" ? operatorEnv : { HOME: homeOf(who) };
  const ended = await runCli(args, { env, ...(input === undefined ? {} : { input }) });
  checkStep(args, ended, { code, out, err });
  return ended.stdout.trim();
}

function checkStep(
  args: readonly string[],
  { code, stdout, stderr }: CliResult,
  expected: { code: number; out: Say; err: Say },
): void {
  const told = `ledgerctl ${args.join(" ")}\n${stdout}${stderr}`;
  expect(code, told).toBe(expected.code);
  for (const [text, say] of [
    [stdout, expected.out],
    [stderr, expected.err],
  ] as const) {
    if (typeof say === "string") expect(text, told).toBe(say);
    else expect(text, told).toMatch(say);
    // Nothing for a terminal where there is none.
    expect(text).not.toContain("\u001b");
  }
}

async function json<Document>(who: Step["who"], ...args: string[]): Promise<Document> {
  return JSON.parse(await step({ who, args: [...args, "--json"], out: /^\{.*\}\n$/ })) as Document;
}

beforeAll(async () => {
  database = await createTestDatabase();
  for (const who of ["operator", "accountant", "auditor", "ci"]) mkdirSync(homeOf(who));
  operatorEnv = {
    HOME: homeOf("operator"),
    LEDGERCTL_DATABASE_URL: database.url,
    LEDGERCTL_MASTER_KEY: randomBytes(32).toString("base64"),
    LEDGERCTL_LOG_KEY: randomBytes(32).toString("base64"),
  };
});

afterAll(async () => {
  expect(await server.end("SIGTERM")).toBe(0);
  await database.drop();
  rmSync(root, { recursive: true });
});

describe("the operator", () => {
  let organization: string;
  let ledger: string;

  it("prepares the database and starts the server", async () => {
    const who = "operator";
    await step({
      who,
      args: ["migrate", "--status"],
      out: /^MIGRATION +APPLIED\n0001_books +yes\n/,
    });
    await step({ who, args: ["migrate"], out: "nothing to apply\n" });
    server = await startServerProcess({ args: ["--port", "0"], env: operatorEnv });
    expect(server.made).not.toHaveProperty("apiKey");
  });

  it("makes an organization, a ledger and its chart", async () => {
    const who = "operator";
    const id = new RegExp(`^${uuid}\\n$`);
    organization = await step({ who, args: ["org", "create", "Acme GmbH", "--quiet"], out: id });
    const chart = fileOf(who, "chart.csv");
    writeFileSync(
      chart,
      "glAccountCode,name,type\n1000,Bank,asset\n1100,Receivables,asset\n2000,VAT,liability\n" +
        "4000,Sales,income\n5000,Rent,expense\n",
    );
    const create = ["ledger", "create", "Books", "--org", organization, "--currency", "EUR"];
    ledger = await step({ who, args: [...create, "--chart", chart, "--quiet"], out: id });
    await step({
      who,
      args: ["account", "add", "5100", "Travel", "--type", "expense", "--ledger", ledger, "-q"],
      out: "5100\n",
    });
    await step({
      who,
      args: ["account", "add", "5100", "Travel", "--ledger", ledger],
      code: 6,
      err: /^ledgerctl: the ledger already has an account 5100; .*\n$/,
    });
    await step({
      who,
      args: ["account", "import", chart, "--ledger", ledger],
      out: "0 added, 0 updated, 5 unchanged\n",
    });
    await step({
      who,
      args: ["account", "list", "--ledger", ledger],
      out: /^CODE +NAME +TYPE +ACTIVE\n1000 +Bank +asset +yes\n/,
    });
    const exported = await step({
      who,
      args: ["account", "list", "--ledger", ledger, "--csv"],
      out: /^glAccountCode,name,type,active\n1000,Bank,asset,true\n/,
    });
    writeFileSync(chart, exported);
    await step({
      who,
      args: ["account", "import", chart, "--ledger", ledger],
      out: /^0 added, 0 updated, [0-9]+ unchanged\n$/,
    });
    await step({
      who,
      args: ["asset", "set", "USD", "--rate", "0.9215", "--ledger", ledger, "--quiet"],
      out: "USD\n",
    });
  });

  it("sees with --verbose which database it is, and no password", async ({ skip }) => {
    const { password } = new URL(database.url);
    skip(password === "", "the tests' server is one that asks for no password");
    await step({
      who: "operator",
      args: ["org", "list", "--quiet", "--verbose"],
      out: `${organization}\n`,
      err: /^> postgres(ql)?:\/\/[^\n]*:\*+@[^?\n]*\n< 0 migrations had to be applied\n$/,
    });
  });

  it("gives each a key that may do what they have to, and the accountant a profile by command", async () => {
    const scopes = {
      accountant: "read,entries:write,wallets:write,periods:close",
      auditor: "read",
      ci: "read,entries:write",
    };
    for (const [who, scope] of Object.entries(scopes) as [Step["who"], string][]) {
      const create = ["key", "create", "--org", organization, "--scope", scope, "--quiet"];
      const key = await step({ who: "operator", args: create, out: /^lk_\S{22} ls_\S{43}\n$/ });
      const [apiKey = "", apiSecret = ""] = key.split(" ");
      if (who !== "accountant") {
        const profile = { url: server.url, apiKey, apiSecret, ledger };
        mkdirSync(dirname(configOf(who)), { recursive: true });
        const config = { currentProfile: "default", profiles: { default: profile } };
        writeFileSync(configOf(who), JSON.stringify(config), { mode: 0o600 });
        continue;
      }
      const set = (name: string, input: string, shown = input) =>
        step({
          who,
          args: ["config", "set", name],
          input,
          out: `${name} of profile default is ${shown}\n`,
          ...(name === "url" ? { err: /^profile default was made in / } : {}),
        });
      await set("url", server.url);
      await set("api-key", apiKey);
      await set("api-secret", apiSecret, "ls_********");
      await set("ledger", ledger);
      expect(statSync(configOf(who)).mode & 0o777).toBe(0o600);
    }
    await step({
      who: "operator",
      args: ["key", "list"],
      out: /^API KEY +NAME +ORGANIZATION +SCOPES +CREATED +EXPIRES +REVOKED\n(lk_.*\n){3}$/,
    });
  });

  it("sees that all is well", async () => {
    const env = { HOME: homeOf("accountant") };
    const found = await doctorOnceReady(() => runCli(["doctor"], { env }));
    checkStep(["doctor"], found, { code: 0, out: /^(ok {4}.*\n)+$/, err: "" });
  });
});

describe("the accountant", () => {
  const who = "accountant";

  it("checks a file before it is posted, and mends it", async () => {
    const file = fileOf(who, "march.csv");
    const head = "externalId,transactionDate,description,glAccountCode,functionalAmount\n";
    const rent = "m-1,2026-03-01,Rent,5000,150000\nm-1,,,1000,-150000\n";
    const invoice =
      "m-2,2026-03-05,Invoice 17,1100,119000\nm-2,,,4000,-100000\nm-2,,,2000,-19000\n";
    const typo = "m-3,2026-03-09,Train,5010,8900\nm-3,,,1000,-8900\n";
    writeFileSync(file, head + rent + invoice + typo.replace("-8900", "-8800"));
    await step({
      who,
      args: ["entry", "post", file, "--dry-run", "--quiet"],
      code: 2,
      out: /^(\{.*\}\n){2}$/,
      err: /^ledgerctl: line [0-9]+.*\n$/,
    });
    writeFileSync(file, head + rent + invoice + typo);
    await step({
      who,
      args: ["entry", "post", file, "--concurrency", "1"],
      code: 2,
      out: new RegExp(
        `^posted +m-1 +${uuid}\\nposted +m-2 +${uuid}\\nfailed +m-3 +.*no account "5010".*\\n$`,
      ),
      err: /^posted 2, already there 0, failed 1 in .*\n$/,
    });
    writeFileSync(file, head + rent + invoice + typo.replace("5010", "5100"));
    await step({
      who,
      args: ["entry", "post", file, "--concurrency", "1"],
      out: /^skipped +m-1 .*\nskipped +m-2 .*\nposted +m-3 .*\n$/,
      err: /^posted 1, already there 2, failed 0 in .*\n$/,
    });
  });

  it("posts by hand, mistypes an account, and corrects what went wrong", async () => {
    const post = ["entry", "post", "--major", "--date", "2026-03-20", "--description", "Payment"];
    await step({
      who,
      args: [...post, "--line", "1000:1190.00", "--line", "1001:-1190.00"],
      code: 2,
      err: /^ledgerctl: .*no account "1001"\n.*\n {2}Did you mean 1000\?\n {2}\(400 .*\)\n$/,
    });
    const twice = [...post, "--line", "1000:1190.00", "--line", "1100:-1190.00", "--quiet"];
    const first = await step({ who, args: twice, out: new RegExp(`^${uuid}\\n$`) });
    const second = await step({ who, args: twice, out: new RegExp(`^${uuid}\\n$`) });
    expect(second).not.toBe(first);
    await step({
      who,
      args: ["entry", "reverse", second, "--description", "Entered twice"],
      out: new RegExp(`^journalId +${uuid}\\npersistedAt +.*Z\\n$`),
    });
    await step({
      who,
      args: ["entry", "reverse", second],
      code: 6,
      err: /^ledgerctl: .*\n {2}the reversal is entry .*\n {2}\(409 .*\)\n$/,
    });
    await step({
      who,
      args: ["entry", "show", second],
      out: /^ledgerId +.*\n(.*\n)*ACCOUNT +AMOUNT\n1000 +1190\.00 EUR\n1100 +-1190\.00 EUR\n$/,
    });
  });

  it("reads balances in major units", async () => {
    await step({
      who,
      args: ["balance", "1000"],
      out: "ACCOUNT      BALANCE  ENTRIES\n1000     -399.00 EUR        5\n",
    });
    await step({
      who,
      args: ["balance", "1000", "--json"],
      out: '{"glAccountCode":"1000","balance":-39900,"currency":"EUR","entryCount":5}\n',
    });
  });

  it("takes them to a spreadsheet", async () => {
    await step({
      who,
      args: ["trial-balance", "--period", "2026-03", "--csv"],
      out:
        "glAccountCode,name,type,currency,opening,debits,credits,closing\n" +
        "1000,Bank,asset,EUR,0,238000,-277900,-39900\n" +
        "1100,Receivables,asset,EUR,0,238000,-238000,0\n" +
        "2000,VAT,liability,EUR,0,0,-19000,-19000\n" +
        "4000,Sales,income,EUR,0,0,-100000,-100000\n" +
        "5000,Rent,expense,EUR,0,150000,0,150000\n" +
        "5100,Travel,expense,EUR,0,8900,0,8900\n",
    });
  });

  it("moves money in wallets, as far as there is any", async () => {
    const credit = [
      "wallet",
      "credit",
      "alice",
      "--asset",
      "EUR",
      "--major",
      "--external-id",
      "top-up",
    ];
    const balance = "balance    50.00 EUR\navailable  50.00 EUR\n";
    await step({ who, args: [...credit, "50.00"], out: `status     accepted\n${balance}` });
    await step({ who, args: [...credit, "50.00"], out: `status     duplicate\n${balance}` });
    await step({
      who,
      args: ["wallet", "debit", "alice", "5001", "--asset", "EUR"],
      code: 6,
      err: /^ledgerctl: .*\n {2}\(422.*\)\n$/,
    });
    const reserve = ["wallet", "reserve", "alice", "2000", "--asset", "EUR", "--quiet"];
    const hold = await step({ who, args: reserve, out: new RegExp(`^${uuid}\\n$`) });
    await step({ who, args: ["wallet", "commit", "alice", hold, "1500", "-q"], out: "accepted\n" });
    await step({
      who,
      args: ["wallet", "balance", "alice", "--minor"],
      out: "balance    3500\navailable  3500\n",
    });
  });

  it("looks at the month and closes it on a terminal", async () => {
    const env = { HOME: homeOf(who) };
    const yes = await runOnTerminal(["period", "close", "2026-03"], { env, answer: "y\r" });
    expect(yes.code).toBe(0);
    expect(yes.shown).toMatch(/^2026-03, from 2026-03-01T.* up to 2026-04-01T.*: 6 entries\n/m);
    const plain = yes.shown.replaceAll(/\u001b\[[0-9]+m/g, "");
    expect(plain).toMatch(/total +0\.00 EUR +6349\.00 EUR +-6349\.00 EUR +0\.00 EUR\n/);
    expect(yes.shown).toMatch(new RegExp(`closeHash +${hash}`));
    await step({
      who,
      args: ["period", "list"],
      out: new RegExp(`^ *NO +PERIOD .*\\n +1 +2026-03 .* ${hash}\\n$`),
    });
  });

  it("takes the month along, for other programs", async () => {
    const month = (format: string) => ["export", "--format", format, "--period", "2026-03"];
    await step({ who, args: month("hledger"), out: /^2026-03-01 .*Rent$/m });
    await step({ who, args: month("beancount"), out: /^2026-03-01 \* .*"Rent"$/m });
    const file = fileOf(who, "exported.csv");
    await step({ who, args: [...month("csv"), "--out", file, "--quiet"] });
    await step({
      who,
      args: ["entry", "post", file, "--dry-run", "--quiet"],
      out: /^(\{.*\}\n){6}$/,
    });
  });

  it("sends the auditor a bundle, and publishes the close's hash", async () => {
    await step({
      who,
      args: ["bundle", "2026-03", "--out", fileOf(who, "2026-03.ndjson"), "--quiet"],
    });
    copyFileSync(fileOf(who, "2026-03.ndjson"), fileOf("auditor", "2026-03.ndjson"));
    const { closeHash } = await json<Close>(who, "period", "show", "2026-03");
    writeFileSync(fileOf("auditor", "published"), closeHash);
  });
});

describe("the auditor", () => {
  const who = "auditor";
  const published = () => readFileSync(fileOf(who, "published"), "utf8");

  it("verifies the bundle offline, with what was published", async () => {
    await step({
      who,
      args: [
        ...["merkle", "verify", "--bundle", fileOf(who, "2026-03.ndjson")],
        ...["--expect", published()],
      ],
      out: /\n\nverified: everything matches, and closeHash is the one expected\.\n$/,
    });
  });

  it("proves one entry, and checks the proof without the server", async () => {
    const id = await step({
      who,
      args: ["entry", "list", "--period", "2026-03", "--account", "5100", "--quiet"],
      out: new RegExp(`^${uuid}\\n$`),
    });
    const proof = fileOf(who, "proof.json");
    await step({
      who,
      args: ["merkle", "prove", id, "--period", "2026-03", "--out", proof, "--quiet"],
    });
    await step({ who, args: ["merkle", "check", proof, "--root", published()], out: /verified/ });
  });

  it("may not write", async () => {
    await step({
      who,
      args: ["entry", "post", "--line", "1000:1", "--line", "4000:-1"],
      code: 4,
      err: /^ledgerctl: .*\n {2}Use a key with that scope.*\n {2}\(403 INSUFFICIENT_SCOPE, .*\)\n$/,
    });
  });

  it("asks the operator for an audit of the database", async () => {
    const report = await json<{ ok: boolean }>("operator", "audit");
    expect(report.ok).toBe(true);
  });
});

describe("the script of the CI", () => {
  const who = "ci";

  it("posts what it is given, again and again, and nothing twice", async () => {
    const entry = (id: string, amount: string) =>
      JSON.stringify({
        externalId: id,
        transactionDate: "2026-04-02T00:00:00Z",
        lines: [
          { glAccountCode: "1000", functionalAmount: amount },
          { glAccountCode: "4000", functionalAmount: `-${amount}` },
        ],
      });
    const input = [entry("ci-1", "100"), entry("ci-2", "250")].join("\n");
    const post = ["entry", "post", "-", "--format", "ndjson", "--json", "--quiet"];
    const statuses = async (more: Partial<Step>) =>
      documents<{ status: string }>(
        await step({ who, args: post, input, out: /^(\{.*\}\n){2}$/, ...more }),
      ).map(({ status }) => status);
    expect(await statuses({})).toEqual(["posted", "posted"]);
    expect(await statuses({})).toEqual(["skipped", "skipped"]);
    const changed = [entry("ci-1", "100"), entry("ci-2", "999")].join("\n");
    const mixed = await statuses({ input: changed, code: 6 });
    expect(mixed.sort()).toEqual(["failed", "skipped"]);
  });

  it("seeds a ledger of its own, and verifies it", async () => {
    const seed = ["--seed", "4711", "--entries", "60", "--periods", "2026-01"];
    const made = await json<Seeded>("operator", "seed", ...seed);
    const flags = ["--ledger", made.ledgerId, "--api-key", made.apiKey];
    const secret = { LEDGERCTL_API_SECRET: made.apiSecret };
    const verified = await runCli(["merkle", "verify", "--period", "2026-01", ...flags], {
      env: { HOME: homeOf(who), ...secret },
    });
    expect(verified.code, verified.stderr).toBe(0);
    expect(verified.stdout).toContain(made.closes[0]?.merkleRoot);
  });

  it("tells by the exit code what went wrong", async () => {
    await step({ who, args: ["balance", "40000"], code: 5, err: /Did you mean 4000\?/ });
    await step({ who, args: ["balance"], code: 2, err: /^ledgerctl: missing required argument/ });
    await step({
      who,
      args: ["balance", "4000", "--url", "http://127.0.0.1:9"],
      code: 7,
      err: /ledgerctl: no answer from http:\/\/127\.0\.0\.1:9/,
    });
    await step({
      who,
      args: ["period", "close", "2026-04", "--yes"],
      code: 4,
      err: /^ledgerctl: /,
    });
  });

  it("signs a request by itself", async () => {
    const out =
      /^\{"method":"GET","target":"\/v1\/ledgers","timestamp":"[0-9]+","signature":"[0-9a-f]{64}".*\}\n$/;
    await step({ who, args: ["sign", "GET", "/v1/ledgers", "--json"], out });
  });
});

describe("at the end", () => {
  it("the operator takes a key back, suspends the ledger and lets it go on", async () => {
    const who = "operator";
    const keys = documents<{ apiKey: string; scopes: string[] }>(
      await step({ who, args: ["key", "list", "--json"], out: /^(\{.*\}\n){4}$/ }),
    );
    const ci = keys.find(({ scopes }) => scopes.length === 2)?.apiKey ?? "";
    await step({ who, args: ["key", "revoke", ci], out: /^lk_.* was revoked at / });
    const { profiles } = JSON.parse(readFileSync(configOf("ci"), "utf8")) as {
      profiles: { default: SignedHttpOptions };
    };
    const client = new LedgerClient(profiles.default);
    await until("the key is refused", () =>
      client.listLedgers().then(
        () => false,
        (error: unknown) => error instanceof ServiceProblem && error.status === 401,
      ),
    );
    await client.close();
    await step({ who: "ci", args: ["balance", "1000"], code: 4, err: /\n {2}\(401.*\)\n$/ });
    const ids = await step({ who, args: ["ledger", "list", "--quiet"], out: /^(\S+\n){2}$/ });
    // The seeded one, whose ids are of January, comes first.
    const id = ids.split("\n").at(-1) ?? "";
    await step({ who, args: ["ledger", "suspend", id], out: `ledger ${id} is suspended\n` });
    await step({
      who: "accountant",
      args: ["entry", "post", "--line", "1000:1", "--line", "4000:-1"],
      code: 6,
      err: /LEDGER_SUSPENDED/,
    });
    await step({ who, args: ["ledger", "activate", id], out: `ledger ${id} is active\n` });
  });
});
