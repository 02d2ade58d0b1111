// A month's end from the shell: the trial balance, the preview of a close, and the close on a terminal.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Close, ClosePreview, TrialBalance } from "../../src/contract/types.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli, type CliResult } from "../support/cli.ts";
import { runHere } from "../support/program.ts";
import { hasPython } from "../support/python.ts";
import { forge } from "../support/tampering.ts";
import { runOnTerminal } from "../support/terminal.ts";

let server: BinaryServer;

const run = (...args: string[]): Promise<CliResult> => runHere(args, server.env);
const runBuilt = (...args: string[]): Promise<CliResult> => runCli(args, server);

async function json<Document>(...args: string[]): Promise<Document> {
  const { code, stdout, stderr } = await run(...args, "--json");
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Document;
}

async function post(
  date: string,
  amount: number,
  [debited, credited] = ["1000", "4000"],
  ledgerId = server.ledgerId,
): Promise<void> {
  const lines = [
    { glAccountCode: debited, functionalAmount: String(amount) },
    { glAccountCode: credited, functionalAmount: String(-amount) },
  ];
  await server.client.postEntry(ledgerId, { lines, transactionDate: `${date}T00:00:00Z` });
}

beforeAll(async () => {
  server = await startBinaryServer();
  await post("2026-02-27", 700);
  await post("2026-03-01", 12_001);
  await post("2026-03-31", 201, ["5000", "1000"]);
  await post("2026-04-01", 5);
  const alice = { ledgerId: server.ledgerId, callerKey: "alice" };
  await server.client.creditWallet(alice, { amount: "500", assetCode: "EUR" });
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

describe("trial-balance", () => {
  it("of a period is an aligned table in major units with totals", async () => {
    const { code, stdout, stderr } = await runBuilt("trial-balance", "--period", "2026-03");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("from 2026-03-01T00:00:00.000Z up to 2026-04-01T00:00:00.000Z");
    expect(stdout).toMatch(/^1000 +Cash +asset +7\.00 USD +120\.01 USD +-2\.01 USD +125\.00 USD$/m);
    expect(stdout).toMatch(
      /^4000 +Revenue +income +-7\.00 USD +0\.00 USD +-120\.01 USD +-127\.01 USD$/m,
    );
    expect(stdout).toMatch(/^total +0\.00 USD +122\.02 USD +-122\.02 USD +0\.00 USD$/m);
    expect(stdout).not.toContain("BALANCE:");
    const table = stdout.split("\n").filter((line) => line.endsWith("USD"));
    expect(new Set(table.map((line) => line.length)).size).toBe(1);
  });

  it("of a moment and of now has what is dated before it, as the API's object with --json", async () => {
    const closings = ({ accounts }: TrialBalance) =>
      accounts.map(({ glAccountCode, closing }) => `${glAccountCode} ${closing}`);
    const midnight = "2026-03-31T00:00:00Z";
    const early = await json<TrialBalance>("trial-balance", "--as-of", midnight);
    expect(early.endsAt).toBe("2026-03-31T00:00:00.000Z");
    expect(closings(early)).toEqual(["1000 12701", "4000 -12701"]);
    // A day without a time is all of it.
    const whole = await json<TrialBalance>("trial-balance", "--as-of", "2026-03-31");
    expect(whole.endsAt).toBe("2026-04-01T00:00:00.000Z");
    expect(closings(whole)).toEqual(["1000 12500", "4000 -12701", "5000 201"]);
    const now = await json<TrialBalance>("trial-balance");
    expect(closings(now)).toEqual(["1000 12505", "4000 -12706", "5000 201"]);
    const asOf = "2026-03-31T00:00Z";
    expect(await server.client.getTrialBalance(server.ledgerId, { asOf })).toEqual(early);
  });

  it("refuses both, and what is no time, with 2; an unknown label is 5", async () => {
    const both = ["trial-balance", "--period", "2026-03", "--as-of", "2026-03-31"];
    expect((await run(...both)).code).toBe(2);
    expect((await run("trial-balance", "--as-of", "soon")).code).toBe(2);
    // A typing error is answered with the forms that there are.
    const forms = "2026, 2026-03, Mar 2026, 2026-03-31, 2026-Q1, 2026-H1 and 2026-W09";
    for (const [command, period, code] of [
      ["trial-balance", "2026-13", 2],
      ["trial-balance", "2026-3", 2],
      ["trial-balance", "never", 5],
      ["entry list", "2026-13", 2],
      ["entry list", "never", 5],
      ["export --format csv", "2026-3", 2],
      ["export --format csv", "never", 5],
    ] as const) {
      const refused = await run(...command.split(" "), "--period", period);
      expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(forms)]);
    }
  });
});

describe("period preview", () => {
  it("shows bounds, entries, the trial balance, what is open before and which wallets wait for a rate", async () => {
    const { code, stdout, stderr } = await runBuilt("period", "preview", "2026-03");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(
      "2026-03, from 2026-03-01T00:00:00.000Z up to 2026-04-01T00:00:00.000Z: 2 entries",
    );
    expect(stdout).toMatch(/^1000 +Cash +asset +7\.00 USD +120\.01 USD/m);
    expect(stdout).toContain("earlier months have entries and are not closed: 2026-02 (1)");
    expect(stdout).toContain("what wallets accepted in EUR waits for a rate");
    expect(stdout).not.toContain("IS NO DATE");
    const preview = await json<ClosePreview>("period", "preview", "2026-03");
    expect(preview).toMatchObject({ entryCount: 2, closesToDate: false, endsInFuture: false });
  });

  it("is loud about a label that is no date, and about an end in the future", async () => {
    const open = await run("period", "preview", "finale");
    expect(open.stdout).toContain('ATTENTION: "finale" IS NO DATE. A close would take EVERYTHING');
    const future = await run("period", "preview", "finale", "--ends-at", "2999-01-01");
    expect(future.stdout).toContain("the period ends in the future");
    expect(future.stdout).not.toContain("IS NO DATE");
    const near = await run("period", "preview", "2026-13");
    expect(near.code).toBe(2);
    expect(near.stderr).toContain("2026-13");
  });
});

describe.runIf(hasPython)("period close on a terminal", () => {
  const closeMarch = ["period", "close", "2026-03", "--allow-open-earlier"];

  it("shows the preview before it asks, and does nothing on a no", async () => {
    const unasked = await runOnTerminal(["period", "close", "2026-03"], {
      env: server.env,
      answer: "y\r",
    });
    expect([unasked.code, unasked.shown]).toEqual([
      2,
      expect.stringContaining(
        "earlier months have entries and are not closed: 2026-02 (1). Close them first",
      ),
    ]);
    expect(unasked.shown).not.toContain("[y/N]");
    const { code, shown } = await runOnTerminal(closeMarch, {
      env: server.env,
      answer: "n\r",
    });
    expect(code).toBe(1);
    expect(shown).toContain("nothing was done");
    const table = shown.search(/^1000 +Cash +asset +7\.00 USD +120\.01 USD/m);
    expect(table, shown).toBeGreaterThanOrEqual(0);
    expect(shown.indexOf('Close "2026-03"')).toBeGreaterThan(table);
    expect((await run("period", "list", "--json")).stdout).toBe("");
  });

  it("closes on a yes, and prints the record", async () => {
    const { code, shown } = await runOnTerminal(closeMarch, {
      env: server.env,
      answer: "y\r",
    });
    expect(code, shown).toBe(0);
    const [close] = (await server.client.listCloses(server.ledgerId)).closes;
    expect(close?.periodId).toBe("2026-03");
    expect(shown).toContain(close?.closeHash);
  });

  it("says of a period that is closed when it was and by which close, and does not ask", async () => {
    const { code, shown } = await runOnTerminal(
      ["period", "close", "2026-03", "--reason", "again"],
      {
        env: server.env,
        answer: "n\r",
      },
    );
    expect(code, shown).toBe(0);
    expect(shown).not.toContain("[y/N]");
    const [close] = (await server.client.listCloses(server.ledgerId)).closes;
    expect(shown).toContain(
      `"2026-03" WAS CLOSED ALREADY, at ${close?.closedAt} by close 1 (${close?.closeId})`,
    );
    expect(shown).toContain(close?.closeHash);
    const again = await run("period", "close", "2026-03", "--yes");
    expect(again).toMatchObject({ code: 0 });
    expect(again.stderr).toContain(`WAS CLOSED ALREADY, at ${close?.closedAt}`);
    expect((await run("period", "close", "2026-03")).code).toBe(2);
  });

  it("tells afterwards what moved, and that the period is closed", async () => {
    const settled = await run("trial-balance", "--period", "2026-03");
    expect(settled.stdout).toContain("as it was closed at");
    await post("2026-02-10", 99);
    const moved = await run("trial-balance", "--period", "2026-03");
    expect(moved.code).toBe(0);
    expect(moved.stdout).toContain("MOVED since 2026-03 was closed at");
    expect(moved.stdout).toMatch(/^1000 +opening +7\.00 USD +7\.99 USD$/m);
    expect(moved.stdout).toMatch(/^4000 +opening +-7\.00 USD +-7\.99 USD$/m);
    const again = await run("period", "preview", "2026-03");
    expect(again.stdout).toMatch(/ALREADY CLOSED at \S+Z by close 1 \(/);
    const next = await run("period", "preview", "2026-04");
    expect(next.stdout).toContain('MOVED since "2026-03" was closed at');
  });
});

it("period close warns of a period that has not ended, also where --yes keeps it from asking", async () => {
  const unasked = await runBuilt("period", "close", "2998");
  expect(unasked.code).toBe(2);
  expect(unasked.stderr).toContain(
    "up to 2999-01-01T00:00:00.000Z, WHICH IS STILL TO COME, for good?",
  );
  const closed = await runBuilt("period", "close", "2998", "--yes", "--allow-open-earlier");
  expect(closed.code, closed.stderr).toBe(0);
  expect(closed.stderr).toContain("ATTENTION: the period ends in the future");
  expect((await run("period", "close", "2020", "--yes")).stderr).not.toContain("in the future");
});

it("period close prints each thing to look at also where --yes keeps it from asking", async () => {
  const close = ["period", "close", "2026-05", "--yes"];
  const refused = await runBuilt(...close);
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toMatch(/^ATTENTION: MOVED since "2026-03" was closed/m);
  expect(refused.stderr).toMatch(
    /^ledgerctl: earlier months have entries .*: 2026-02 \(2\), 2026-04 \(1\)\..*--allow-open-earlier/m,
  );
  // With --quiet, too.
  const closed = await runBuilt(...close, "--allow-open-earlier", "--quiet");
  expect(closed.code, closed.stderr).toBe(0);
  expect(closed.stderr).toMatch(/^ATTENTION: earlier months .*2026-02 \(2\), 2026-04 \(1\)/m);
  expect(closed.stderr).toMatch(/^ATTENTION: what wallets accepted in EUR waits for a rate/m);
  expect(closed.stderr).toMatch(/^ATTENTION: MOVED since "2026-03" was closed/m);
  expect(closed.stdout).not.toContain("ATTENTION");
  const typo = ["period", "close", "Janaury", "--starts-at", "2026-10-01", "--yes"];
  const stopped = await run(...typo, "--allow-open-earlier");
  expect([stopped.code, stopped.stdout]).toEqual([2, ""]);
  expect(stopped.stderr).toContain('"Janaury" is no date, so that everything up to now would be');
  const meant = await run(...typo, "--allow-open-earlier", "--to-date");
  expect(meant.code, meant.stderr).toBe(0);
  expect(meant.stderr).toContain(
    'ATTENTION: "Janaury" IS NO DATE. A close would take EVERYTHING from 2026-10-01T00:00:00.000Z up to the moment',
  );
});

it("period close says what it can of a label and bounds to a key that may not read", async () => {
  const scope = ["--org", server.organizationId, "--scope", "periods:close"];
  const { apiKey, apiSecret } = await json<{ apiKey: string; apiSecret: string }>(
    ...["key", "create", ...scope],
  );
  const env = { ...server.env, LEDGERCTL_API_KEY: apiKey, LEDGERCTL_API_SECRET: apiSecret };
  const refused = await runHere(["period", "close", "finally", "--yes"], env);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--to-date")]);
  const closed = await runHere(["period", "close", "finally", "--yes", "--to-date"], env);
  expect(closed.code, closed.stderr).toBe(0);
  expect(closed.stderr).toContain('ATTENTION: "finally" IS NO DATE.');
  expect(closed.stderr).toContain("EVERYTHING from the end of what is closed up to the moment");
  expect(closed.stderr).toContain("ATTENTION: the API key may not read");
});

it("period close is refused, with exit code 6, where closes come in order and earlier months are open", async () => {
  const asked = ["--org", server.organizationId, "--currency", "USD", "--closes-in-order"];
  const admin = {
    HOME: server.home,
    LEDGERCTL_DATABASE_URL: server.env["LEDGERCTL_DATABASE_URL"] ?? "",
  };
  const made = await runHere(["ledger", "create", "In order", ...asked, "--quiet"], admin);
  const ledgerId = made.stdout.trim();
  await post("2026-01-05", 5, ["wallets-clearing:USD", "wallets:USD"], ledgerId);
  const close = ["period", "close", "2026-02", "--yes", "--ledger", ledgerId];
  expect(await run(...close)).toMatchObject({ code: 2 });
  const early = await run(...close, "--allow-open-earlier");
  expect(early.code).toBe(6);
  expect(early.stderr).toContain("closes of this ledger come in order");
  expect(early.stderr).toContain("2026-01 (1)");
  await server.client.closePeriod(ledgerId, { periodId: "2026-01" });
  expect(await run(...close)).toMatchObject({ code: 0 });
});

it("with --json, what there is to look at is a member of the result and not on stderr", async () => {
  const close = ["period", "close", "2026-06", "--yes", "--allow-open-earlier", "--json"];
  const { code, stdout, stderr } = await run(...close);
  expect([code, stderr]).toEqual([0, ""]);
  const { attention, ...record } = JSON.parse(stdout) as Close & { attention: string[] };
  expect(record).toEqual((await server.client.listCloses(server.ledgerId)).closes.at(-1));
  expect(attention).toContainEqual(
    expect.stringMatching(/^ATTENTION: earlier months .*2026-02 \(2\)/),
  );
  const again = JSON.parse((await run(...close)).stdout) as Close & { attention: string[] };
  expect(again).toEqual({ ...record, attention: [] });
});

it("other labels of days that are closed find their close, and closing them once more needs attention", async () => {
  const shown = await json<Close>("period", "show", "June 2026");
  expect(shown.periodId).toBe("2026-06");
  const preview = await json<{ attention: string[] }>("period", "preview", "Jun 2026");
  expect(preview.attention).toContainEqual(
    expect.stringMatching(
      /^ATTENTION: the same days are closed already, as "2026-06" \(close \d+\)/,
    ),
  );
  const second = await run("period", "close", "Jun 2026", "--yes", "--allow-open-earlier");
  expect(second.stderr).toContain("ATTENTION: the same days are closed already");
  // Now there are two: which is meant is not for us to say.
  expect((await run("period", "show", "June 2026")).code).toBe(5);
  expect((await json<Close>("period", "show", "Jun 2026")).periodId).toBe("Jun 2026");
});

it("trial-balance ends with 3, and says so, where somebody has changed the database by hand", async () => {
  await forge(
    { databaseUrl: server.env["LEDGERCTL_DATABASE_URL"] ?? "" },
    "UPDATE journal_lines SET functional_amount = 6 WHERE functional_amount = 5",
  );
  const found = await runBuilt("trial-balance");
  expect(found.code).toBe(3);
  expect(found.stdout).toContain("IT DOES NOT BALANCE");
  expect(await server.client.getTrialBalance(server.ledgerId)).toMatchObject({ balanced: false });
});
