// `entry` and `balance` against a server of its own. The built binary runs each verb, and whatever reads its stdin; more
// cases run here.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, startCli, type CliResult } from "../support/cli.ts";
import { runHere } from "../support/program.ts";

interface Written {
  journalId: string;
  persistedAt: string;
}

interface ListResult extends Written {
  status: "posted" | "skipped" | "failed";
  externalId: string | null;
  line: number;
  code?: string | null;
  detail?: string;
}

let server: BinaryServer;
let fileCount = 0;

beforeAll(async () => {
  server = await startBinaryServer();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

function run(args: readonly string[], input?: string, more = {}): Promise<CliResult> {
  const env = { ...server.env, ...more };
  return input === undefined ? runHere(args, env) : runCli(args, { env, input });
}

const runBuilt = (args: readonly string[]) => run(args, "");

async function json<Document>(args: readonly string[]): Promise<Document> {
  const { code, stdout, stderr } = await run([...args, "--json"]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Document;
}

const sale = ["entry", "post", "--line", "1000:+12500", "--line", "4000:-12500"];

function entry(amount: number, more: Record<string, unknown> = {}) {
  return {
    ...more,
    lines: [
      { glAccountCode: "1000", functionalAmount: String(amount) },
      { glAccountCode: "4000", functionalAmount: String(-amount) },
    ],
  };
}

function saveFile(name: string, content: string): string {
  fileCount += 1;
  const file = join(server.home, `${fileCount}-${name}`);
  writeFileSync(file, content);
  return file;
}

function ndjson(...values: unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

describe("posting one entry", () => {
  it("prints its result, and with --quiet its id alone", async () => {
    const json = await runBuilt([...sale, "--description", "First sale", "--json"]);
    expect(Object.keys(JSON.parse(json.stdout) as Written)).toEqual(["journalId", "persistedAt"]);
    const text = await runBuilt(sale);
    expect(text.stdout).toMatch(/^journalId {4}\S{36}\npersistedAt {2}\S{24}\n$/);
    const quiet = await run([...sale, "--quiet"]);
    expect(quiet.stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    expect(quiet.stderr).toBe("");
  });

  it("sends date, description, metadata and external id", async () => {
    const { journalId } = await json<Written>([
      ...["entry", "post", "--line", "1000:70", "--line", "4000:-70", "--date", "2026-03-15"],
      ...["--description", "d", "--meta", "a=b=c", "--meta", "n=1", "--external-id", "meta-1"],
    ]);
    expect(await server.client.getEntry(server.ledgerId, journalId)).toMatchObject({
      transactionDate: "2026-03-15T00:00:00.000Z",
      description: "d",
      metadata: { a: "b=c", n: "1" },
      externalId: "meta-1",
    });
  });

  it("reads --major by the ledger's currency, exactly, and refuses decimals it does not have", async () => {
    const { journalId } = await json<Written>([
      ...["entry", "post", "--major", "--line", "1000:90071992547409.93"],
      ...["--line", "4000:-90071992547409.93"],
    ]);
    const { lines } = await server.client.getEntry(server.ledgerId, journalId);
    expect(lines[0]?.functionalAmount).toBe("9007199254740993");
    const refused = await run([
      ...["entry", "post", "--major", "--line", "1000:1.005", "--line", "4000:-1.005"],
    ]);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("has 3 decimals, but its currency has only 2");
    await server.client.reverseEntry(server.ledgerId, journalId);
  });

  it("ends with 6 where the external id is known, and names the first entry", async () => {
    const once = entry(12500, { externalId: "once" });
    const first = await server.client.postEntry(server.ledgerId, once);
    const second = await runBuilt([...sale, "--external-id", "once"]);
    expect([second.code, second.stdout]).toEqual([6, ""]);
    expect(second.stderr).toContain(first.journalId);
    expect(second.stderr).toMatch(/409 DUPLICATE_ENTRY, request \S+\)/);
  });

  it("reads a JSON object from a file or stdin, and posts it once", async () => {
    const body = JSON.stringify(entry(11, { description: "alone" }), null, 2);
    const first = await run(["entry", "post", saveFile("one.json", body), "--json"]);
    expect(JSON.parse(first.stdout)).toHaveProperty("journalId");
    const second = await run(["entry", "post", "-"], body);
    expect([second.code, second.stdout]).toEqual([6, ""]);
  });

  it.each([
    [["--line", "1000:1", "--line", "4000:-2"], /must sum to zero/],
    [["--line", "1000:1", "--line", "8888:-1"], /#\/lines\/1\/glAccountCode/],
  ])("ends with 2 and one message for %j", async (args, message) => {
    const { code, stdout, stderr } = await run(["entry", "post", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\.[jt]s:\d+/);
  });
});

describe("a dry run", () => {
  it("prints what would be sent and sends nothing, also without a server", async () => {
    const env = { LEDGERCTL_URL: "http://127.0.0.1:9", LEDGERCTL_API_KEY: "" };
    const one = await run([...sale, "--external-id", "dry", "--dry-run"], "", env);
    expect(JSON.parse(one.stdout)).toEqual(entry(12500, { externalId: "dry" }));
    const list = await run(
      ["entry", "post", "--dry-run", "-"],
      `${ndjson(entry(1))}{"lines":[{"functionalAmount":5}]}\nnot json\n`,
      env,
    );
    expect(list.code).toBe(2);
    expect(documents(list.stdout)).toHaveLength(1);
    expect(list.stderr).toContain("line 2: #/lines/0/functionalAmount: must be a string");
    expect(list.stderr).toContain("line 3, column 1: expected value");
    expect(list.stderr).toContain("would post 1, invalid 2; nothing was sent");
  });

  it("prints what can be posted as it is", async () => {
    const dry = await run(["entry", "post", "--dry-run"], ndjson(entry(21), entry(21), entry(22)));
    const posted = await run(["entry", "post", "--json"], dry.stdout);
    expect(documents<ListResult>(posted.stdout).map(({ status }) => status)).toEqual(
      Array(3).fill("posted"),
    );
  });
});

describe("posting a list", () => {
  it("posts nothing twice, and says so", async () => {
    const file = saveFile("list.ndjson", ndjson(entry(31), entry(31), entry(32)));
    const first = await runBuilt(["entry", "post", file]);
    expect([first.code, first.stderr]).toEqual([
      0,
      expect.stringMatching(/^posted 3, already there 0, failed 0 in /),
    ]);
    expect(first.stdout.split("\n").slice(0, -1)).toEqual(
      Array(3).fill(expect.stringMatching(/^posted {3}sha256-[0-9a-f]{64}-[01] {2}[0-9a-f-]{36}$/)),
    );
    const again = await run(["entry", "post", file]);
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringMatching(/^posted 0, already there 3, failed 0 in /),
    ]);
  });

  it("posts the same entries once whatever format they come in", async () => {
    const rows = (amount: number) => `fmt,1000,${amount}\nfmt,4000,${-amount}\n`;
    const csv = saveFile(
      "list.csv",
      `description,glAccountCode,functionalAmount\n${rows(41)}${rows(42)}`,
    );
    const entries = [41, 42].map((amount) => entry(amount, { description: "fmt" }));
    const array = saveFile("list.json", JSON.stringify(entries));
    const first = await run(["entry", "post", csv, "--json"]);
    const second = await run(["entry", "post", array, "--json"]);
    const ids = (text: string) =>
      documents<ListResult>(text)
        .map(({ journalId, line }) => ({ journalId, line }))
        .sort((a, b) => a.line - b.line)
        .map(({ journalId }) => journalId);
    expect(second.stderr).toMatch(/^{"note":"posted 0, already there 2/);
    expect(ids(second.stdout)).toEqual(ids(first.stdout));
  });

  it("goes on behind entries that fail, and ends with the first failure's code in the file's order", async () => {
    await server.client.postEntry(server.ledgerId, entry(50, { externalId: "taken" }));
    const text =
      ndjson(
        entry(51, { externalId: "ok-1" }),
        entry(52, { externalId: "taken" }),
        entry(53, { externalId: "bad", colour: "red" }),
      ) + `broken\n${ndjson(entry(54, { externalId: "ok-2" }))}`;
    const { code, stdout, stderr } = await run(["entry", "post", "--json", "-"], text);
    expect(code).toBe(6);
    expect(stderr).toMatch(/^{"note":"posted 2, already there 0, failed 3 in /);
    const results = documents<ListResult>(stdout).sort((a, b) => a.line - b.line);
    expect(results.map(({ status, line, code: problem }) => [line, status, problem])).toEqual([
      [1, "posted", undefined],
      [2, "failed", "DUPLICATE_ENTRY"],
      [3, "failed", "VALIDATION_ERROR"],
      [4, "failed", null],
      [5, "posted", undefined],
    ]);
    expect(results[1]?.journalId).toMatch(/^[0-9a-f-]{36}$/);
    expect(results[3]?.detail).toContain("line 4, column 1");
  });

  it("names line and column of what a CSV has wrong, and does not advise to post it again as it is", async () => {
    const csv =
      "externalId,transactionDate,description,glAccountCode,functionalAmount,lineDescription\n" +
      "x,,ok,nope,1,\nx,,,4000,-1,\n" +
      `y,2026-02-30,${"d".repeat(1025)},1000,1.5,\ny,,,4000,-1,${"l".repeat(1025)}\n`;
    const file = saveFile("wrong.csv", csv);
    const { code, stdout } = await run(["entry", "post", file, "--concurrency", "1"]);
    expect(code).toBe(2);
    expect(stdout).toMatch(
      /^failed {3}x {2}line 2, column glAccountCode: the ledger has no account/,
    );
    const faults = [
      "line 4, column description: must have at most 1024 characters",
      "line 4, column transactionDate: is no date: 2026-02 has the days 01 to 28",
      "line 4, column functionalAmount: must be an integer in smallest units, as a string of at most 38 digits: " +
        "12.50 of a currency with two decimals is written 1250",
      "line 5, column lineDescription: must have at most 1024 characters",
    ];
    const dry = await run(["entry", "post", "--dry-run", file]);
    for (const fault of faults) {
      expect(stdout).toContain(fault);
      expect(dry.stderr).toContain(`ledgerctl: ${fault}`);
    }
    expect(stdout + dry.stderr).not.toContain("#/");
    const semicolons = saveFile("german.csv", csv.replaceAll(",", ";"));
    const refused = await run(["entry", "post", semicolons]);
    expect(refused.code).toBe(2);
    const named = `ledgerctl: ${semicolons}: line 1: the columns are separated by semicolons`;
    expect(refused.stderr.startsWith(named), refused.stderr).toBe(true);
    expect(refused.stderr).not.toContain("again");
    expect(refused.stderr).not.toContain("posted 0");
    const piped = await run(["entry", "post", "--format", "csv", "-"], "glAccountCode,name\n");
    expect([piped.code, piped.stderr]).toEqual([
      2,
      expect.stringMatching(/^ledgerctl: stdin: line 1: the header lacks the column/),
    ]);
  });

  it("lists all that is wrong with an entry, in the words of a shell", async () => {
    const { code, stderr } = await run(["entry", "post", "-"], '{"lines":[{},{}]}');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^ledgerctl: 4 things are wrong with the request:\n {2}#\/lines\/0\//);
  });

  it("keeps the file's order with --concurrency 1", async () => {
    const values = Array.from({ length: 40 }, (_, index) =>
      entry(index + 1, { externalId: `o-${index}` }),
    );
    const { stdout } = await run(
      ["entry", "post", "--concurrency", "1", "-", "--quiet"],
      ndjson(...values),
    );
    const listed = await run(["entry", "list", "--json"]);
    const stored = documents<Written & { externalId: string; sequence: number }>(listed.stdout);
    const mine = stored.filter(({ externalId }) => externalId.startsWith("o-"));
    expect(mine.map(({ externalId }) => externalId)).toEqual(
      values.map((_, index) => `o-${index}`),
    );
    expect(stdout.trim().split("\n")).toEqual(mine.map(({ journalId }) => journalId));
  });

  it("says failures on stderr with --quiet, so that stdout holds ids alone", async () => {
    const { stdout, stderr } = await run(
      ["entry", "post", "--quiet", "-"],
      `${ndjson(entry(61))}broken\n${ndjson(entry(62))}`,
    );
    expect(stdout).toMatch(/^([0-9a-f-]{36}\n){2}$/);
    expect(stderr).toMatch(/^ledgerctl: failed {3}- {2}line 2, column 1: [^\n]+\n$/);
  });

  it("does not pass control characters of a file on to the terminal", async () => {
    const { stdout } = await run(
      ["entry", "post", "-"],
      ndjson(entry(63, { externalId: "\u001b[2J\nfake" }), entry(64)),
    );
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toContain("\\u001b[2J\\u000afake");
  });

  it("stops early where nobody answers or the key is refused, and says that it can be run again", async () => {
    const values = Array.from({ length: 500 }, (_, index) =>
      entry(index + 1, { externalId: `s-${index}` }),
    );
    const refused = await run(["entry", "post", "-", "--json"], ndjson(...values), {
      LEDGERCTL_API_SECRET: "ls_wrong",
    });
    expect(refused.code).toBe(4);
    expect(documents(refused.stdout).length).toBeLessThanOrEqual(16);
    expect(refused.stderr).toContain("run the same command again");
    const elsewhere = await run(["entry", "post", "-", "--json"], ndjson(...values), {
      LEDGERCTL_LEDGER: "00000000-0000-7000-8000-000000000000",
    });
    expect(elsewhere.code).toBe(5);
    expect(documents(elsewhere.stdout).length).toBeLessThanOrEqual(16);
  });

  it("ends with 130 on Ctrl-C, finishes what is under way, and completes when run again", async () => {
    const values = Array.from({ length: 300 }, (_, index) =>
      entry(index + 1, { externalId: `i-${index}` }),
    );
    const { child, result } = startCli(["entry", "post", "-"], { env: server.env });
    // stdin stays open: the command waits for more when it is interrupted.
    child.stdin?.write(ndjson(...values.slice(0, 100)));
    if (child.stdout !== null) await once(child.stdout, "data");
    child.kill("SIGINT");
    const { code, stderr } = await result;
    expect(code).toBe(130);
    expect(stderr).toContain("ledgerctl: interrupted");
    expect(stderr).toContain("run the same command again");
    const again = await run(["entry", "post", "-"], ndjson(...values));
    expect(again.code).toBe(0);
    const counts = /^posted (\d+), already there (\d+), failed 0 in /.exec(again.stderr);
    expect(Number(counts?.[1]) + Number(counts?.[2])).toBe(300);
    expect(Number(counts?.[2])).toBeGreaterThan(0);
  });

  it("says that it waits for a server that is down, and ends at once on Ctrl-C", async () => {
    const { child, result } = startCli(["entry", "post", "-"], {
      env: { ...server.env, LEDGERCTL_URL: "http://127.0.0.1:1" },
    });
    child.stdin?.write(ndjson(entry(1), entry(2)));
    if (child.stderr !== null) await once(child.stderr, "data");
    child.kill("SIGINT");
    const { code, stdout, stderr } = await result;
    expect(stderr).toMatch(/^waiting for the server …\n/);
    // Without the Ctrl-C it would end with 7, a minute later.
    expect(code).toBe(130);
    expect(stdout).toBe("");
  });

  it("rides through a restart of the server", async () => {
    const values = Array.from({ length: 1_000 }, (_, index) =>
      entry(index + 1, { externalId: `r-${index}` }),
    );
    const { child, result } = startCli(["entry", "post", "-", "--json"], { env: server.env });
    child.stdin?.end(ndjson(...values));
    if (child.stdout !== null) await once(child.stdout, "data");
    await server.restart(() => sleep(500));
    const { code, stdout, stderr } = await result;
    expect(code, stderr).toBe(0);
    const results = documents<ListResult>(stdout);
    expect(new Set(results.map(({ journalId }) => journalId)).size).toBe(1_000);
  });
});

describe("reading entries", () => {
  it("shows an entry with amounts in major units, right-aligned", async () => {
    const { journalId } = await server.client.postEntry(server.ledgerId, {
      description: "Books from Paris",
      transactionDate: "2026-02-03T04:05:06Z",
      lines: [
        {
          glAccountCode: "5000",
          functionalAmount: "11000",
          transactionAmount: "10000",
          transactionCurrency: "EUR",
          spotRate: 1.1,
          description: "books",
        },
        {
          glAccountCode: "1000",
          functionalAmount: "-11000",
          transactionAmount: "-12345",
          transactionCurrency: "JPY",
        },
      ],
    });
    const { stdout } = await runBuilt(["entry", "show", journalId]);
    expect(stdout).toContain("description      Books from Paris\n");
    expect(stdout.slice(stdout.indexOf("ACCOUNT"))).toBe(
      [
        "ACCOUNT       AMOUNT  TRANSACTION  RATE  DESCRIPTION",
        "5000      110.00 USD   100.00 EUR   1.1  books",
        "1000     -110.00 USD   -12345 JPY",
        "",
      ].join("\n"),
    );
  });

  it("reverses an entry once", async () => {
    const { journalId: id } = await server.client.postEntry(server.ledgerId, entry(12500));
    const reversal = await json<Written>(["entry", "reverse", id, "--description", "oops"]);
    expect(await json(["entry", "show", reversal.journalId])).toMatchObject({
      entryType: "REVERSAL",
      reversesJournalId: id,
      description: "oops",
    });
    const again = await runBuilt(["entry", "reverse", id]);
    expect([again.code, again.stdout]).toEqual([6, ""]);
    expect(again.stderr).toContain(reversal.journalId);
  });

  it("lists by filters, so many as asked for, and says when there are more", async () => {
    const ids = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(["entry", "list", "--json", ...args]);
      expect(code, stderr).toBe(0);
      return documents<{ sequence: number }>(stdout).map(({ sequence }) => sequence);
    };
    const values = Array.from({ length: 160 }, (_, index) =>
      entry(index + 1, { externalId: `l-${index}`, transactionDate: "2020-02-29T23:59:59.999Z" }),
    );
    await server.client.postEntries(server.ledgerId, values);
    await server.client.postEntry(server.ledgerId, {
      lines: [
        { glAccountCode: "1100", functionalAmount: "1" },
        { glAccountCode: "4000", functionalAmount: "-1" },
      ],
    });
    const all = await ids();
    expect(all).toEqual(all.map((_, index) => index + 1));
    expect(all.length).toBeGreaterThan(160);
    expect(await ids("--limit", "150")).toEqual(all.slice(0, 150));
    expect(await ids("--after", "100", "--limit", "3")).toEqual([101, 102, 103]);
    expect(await ids("--account", "1100")).toEqual([all.length]);
    expect(await ids("--external-id", "l-7")).toHaveLength(1);
    expect(await ids("--from", "2020-02-29", "--to", "2020-03-01")).toHaveLength(160);
    expect(await ids("--from", "2020-02-28", "--to", "2020-02-29")).toHaveLength(0);
    expect(await ids("--period", "2020-02")).toHaveLength(160);
    const near = await run(["entry", "list", "--period", "2020-13"]);
    expect([near.code, near.stderr]).toEqual([
      2,
      expect.stringMatching(/^ledgerctl: --period "2020-13" names no period of the calendar, as /),
    ]);
    expect((await run(["entry", "list", "--period", "never"])).code).toBe(5);
    const table = await runBuilt(["entry", "list"]);
    expect(table.stdout.trim().split("\n")).toHaveLength(51);
    expect(table.stderr).toContain("--after 50 goes on");
    expect(table.stdout).not.toContain("\u001b");
    const none = await run(["entry", "list", "--period", "2020-03"]);
    expect([none.code, none.stdout, none.stderr]).toEqual([0, "", "none\n"]);
    const unused = await run(["entry", "list", "--account", "1100", "--period", "2020-03"]);
    expect([unused.code, unused.stdout, unused.stderr]).toEqual([0, "", "none\n"]);
    const mistyped = await run(["entry", "list", "--account", "1010"]);
    expect([mistyped.code, mistyped.stdout]).toEqual([5, ""]);
    const balance = await run(["balance", "1010"]);
    const withoutId = (text: string) => text.replace(/request .*/, "");
    expect(withoutId(mistyped.stderr)).toBe(withoutId(balance.stderr));
    expect(mistyped.stderr).toMatch(/"1010".*\n {2}Did you mean .*1000.*\n.*404 ACCOUNT_NOT_FOUND/);
  });

  it("tells a balance in major units, and with all its digits as JSON", async () => {
    const large = "99999999999999999999999999999999999999";
    await run(["entry", "post", "--line", `3000:${large}`, "--line", `2000:-${large}`]);
    const text = await runBuilt(["balance", "3000"]);
    expect(text.stdout).toBe(
      `ACCOUNT  ${"BALANCE".padStart(43)}  ENTRIES\n` +
        "3000     999999999999999999999999999999999999.99 USD        1\n",
    );
    const asJson = await run(["balance", "2000", "--json"]);
    expect(asJson.stdout).toBe(
      `{"glAccountCode":"2000","balance":-${large},"currency":"USD","entryCount":1}\n`,
    );
    await server.client.postEntry(server.ledgerId, {
      lines: [
        {
          glAccountCode: "1100",
          functionalAmount: "11000",
          transactionAmount: "10000",
          transactionCurrency: "EUR",
        },
        { glAccountCode: "4000", functionalAmount: "-11000" },
      ],
    });
    expect(await run(["balance", "1100", "--currency", "usd"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1100 +0 usd +0$/m) as string,
      stderr: "account 1100 has no lines in usd; did you mean USD?\n",
    });
    const before = await run(["balance", "1100", "--currency", "EUR", "--as-of", "2000-01-01"]);
    expect(before.stderr).toBe("account 1100 has no lines in EUR up to 2000-01-01\n");
    const euros = await run(["balance", "1100", "--currency", "EUR"]);
    expect(euros.stdout).toMatch(/^1100 +100\.00 EUR +1$/m);
  });

  it.each([
    "entry show 00000000-0000-7000-8000-000000000000",
    "entry show nonsense",
    "entry reverse 00000000-0000-7000-8000-000000000000",
    "balance 8888",
  ])("ends with 5 for %s", async (command) => {
    const { code, stdout, stderr } = await run(command.split(" "));
    expect([code, stdout]).toEqual([5, ""]);
    expect(stderr).toMatch(
      /^ledgerctl: .*\n( {2}An entry is named by .*\n)? {2}\(404 \w+, request \S+\)\n$/,
    );
  });

  it("names the ledger that the key can't see", async () => {
    const ledger = "0190b6a0-0000-7000-8000-000000000001";
    const { code, stderr } = await run(["entry", "list"], undefined, { LEDGERCTL_LEDGER: ledger });
    expect(code).toBe(5);
    expect(stderr).toMatch(
      new RegExp(
        `^ledgerctl: there is no ledger ${ledger} that the key can see\\n  \\(404, request `,
      ),
    );
  });

  it("ends with 7 where nobody answers, and with 4 where the key is refused", async () => {
    const away = await run(["balance", "1000", "--url", "http://127.0.0.1:9"]);
    expect(away.code).toBe(7);
    const secret = { LEDGERCTL_API_SECRET: "ls_wrong" };
    const refused = await run(["balance", "1000"], undefined, secret);
    expect(refused.code).toBe(4);
    expect(refused.stderr).not.toContain("ls_wrong");
  });
});
