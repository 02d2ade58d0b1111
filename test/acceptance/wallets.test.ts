// `wallet` against a server of its own: what it prints, where, and how it ends. Each verb is run by the built binary, and
// more of its cases here.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LedgerClient, type WalletAddress } from "../../src/client/ledger-client.ts";
import { runOnTerminal, withoutProgress } from "../support/terminal.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, startCli, type CliResult } from "../support/cli.ts";
import { runHere } from "../support/program.ts";
import { startServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

interface Figures {
  status: string;
  balance: string;
  available: string;
  holdId?: string | null;
}

interface Message {
  key: string;
  type: string;
  balance: string;
  available: string;
  seq: number;
}

let server: BinaryServer;
const nobody = "0190b6a0-0000-7000-8000-000000000001";

beforeAll(async () => {
  server = await startBinaryServer();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

function run(args: readonly string[], env = {}): Promise<CliResult> {
  return runHere(["wallet", ...args], { ...server.env, ...env });
}

function runBuilt(...args: string[]): Promise<CliResult> {
  return runCli(["wallet", ...args], { env: server.env });
}

async function json<Document>(...args: string[]): Promise<Document> {
  const { code, stdout, stderr } = await run([...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Document;
}

const usd = ["--asset", "USD"];
const wallet = (callerKey: string): WalletAddress => ({ ledgerId: server.ledgerId, callerKey });
const credit = (key: string, amount: string, more = {}) =>
  server.client.creditWallet(wallet(key), { amount, assetCode: "USD", ...more });

/** Waits until a wallet's writes are posted, as far as one of them. */
async function posted(key: string, seq: number): Promise<void> {
  await until(`the posting of ${key}`, async () => {
    const { writes } = await server.client.listWalletWrites(wallet(key), { after: seq - 1 });
    return writes[0]?.journalId;
  });
}

it("`entry show` lists the writes of a posting, be it one", async () => {
  await server.client.creditWallet(wallet("alone"), { amount: "5", assetCode: "LONE" });
  await posted("alone", 1);
  const { writes } = await server.client.listWalletWrites(wallet("alone"), {});
  const shown = await runHere(["entry", "show", writes[0]?.journalId ?? ""], server.env);
  expect(shown.stdout).toContain("\n1 wallet write:\n");
});

describe("crediting and debiting", () => {
  it("prints the API's object, and for people major units of the asset", async () => {
    const made = await runBuilt("credit", "figures", "12500", ...usd, "--json");
    expect(made).toEqual({
      code: 0,
      stderr: "",
      stdout: '{"status":"accepted","balance":"12500","available":"12500"}\n',
    });
    const debit = await runBuilt("debit", "figures", "25.01", "--major", "--asset", "usd");
    expect(debit).toEqual({
      code: 0,
      stderr: "",
      stdout: "status     accepted\nbalance    99.99 USD\navailable  99.99 USD\n",
    });
    const points = await run(["credit", "points", "12500", "--asset", "POINTS"]);
    expect(points.stdout).toContain("balance    12500 POINTS\n");
    expect(points.stderr).toBe("");
    const quiet = await run(["credit", "figures", "1", ...usd, "--quiet"]);
    expect([quiet.stdout, quiet.stderr]).toEqual(["accepted\n", ""]);
  });

  it("reads --major exactly, by the currency's own exponent", async () => {
    const big = await json<Figures>("credit", "major", "90071992547409.93", "--major", ...usd);
    expect(big.balance).toBe("9007199254740993");
    const dinars = await json<Figures>("credit", "tnd", "1.005", "--major", "--asset", "TND");
    expect(dinars.balance).toBe("1005");
    const refused = await run(["credit", "major", "1.005", "--major", ...usd]);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("has 3 decimals, but its currency has only 2");
  });

  it("takes a callerKey of the profile's ledger or a whole walletKey, colons and slashes included", async () => {
    await json("credit", "user/7:main ü", "5", ...usd);
    await json("credit", `${server.ledgerId}:user/7:main ü`, "6", ...usd);
    const whole = `${server.ledgerId.toUpperCase()}:user/7:main ü`;
    const balance = await run(["balance", whole, "--json"], { LEDGERCTL_LEDGER: "" });
    expect(balance).toEqual({
      code: 0,
      stderr: "",
      stdout: '{"balance":"11","available":"11"}\n',
    });
    const elsewhere = await run(["balance", `${nobody}:x`]);
    expect([elsewhere.code, elsewhere.stdout]).toEqual([5, ""]);
    const noLedger = await run(["balance", "x"], { LEDGERCTL_LEDGER: "" });
    expect([noLedger.code, noLedger.stderr]).toEqual([
      2,
      "ledgerctl: name the ledger with --ledger or LEDGERCTL_LEDGER, or once and for all with `ledgerctl config set ledger NAME`\n",
    ]);
  });

  it("writes once under an external id, and keeps metadata as it is given", async () => {
    const more = [...usd, "--external-id", "order-1", "--metadata", '{"b": 1,"a":"é"}'];
    expect(await json("credit", "once", "5", ...more)).toMatchObject({ status: "accepted" });
    expect(await json("credit", "once", "99", ...more)).toMatchObject({
      status: "duplicate",
      balance: "5",
    });
    expect(await json("history", "once")).toMatchObject({
      externalId: "order-1",
      metadata: '{"b": 1,"a":"é"}',
    });
  });
});

describe("refusals", () => {
  it("ends with 6 for more than is available, and leaves the wallet as it was", async () => {
    await credit("short", "10");
    const refused = await runBuilt("debit", "short", "11", ...usd);
    expect([refused.code, refused.stdout]).toEqual([6, ""]);
    expect(refused.stderr).toMatch(/more than is available\n {2}\(422, request \S+\)\n$/);
    expect(await server.client.getWalletBalance(wallet("short"))).toEqual({
      balance: "10",
      available: "10",
    });
  });

  it("ends with 2 for another asset than the wallet's", async () => {
    await credit("dollars", "10");
    expect(await run(["debit", "dollars", "1", "--asset", "EUR"])).toMatchObject({ code: 2 });
  });

  it("ends with 6 on a ledger that takes no writes, and with 4 for a key that may not write", async () => {
    const ledger = await server.books.createLedger();
    await server.books.changeStatus(ledger, "suspended");
    const suspended = await run(["credit", `${ledger}:k`, "1", ...usd]);
    expect([suspended.code, suspended.stdout]).toEqual([6, ""]);
    expect(suspended.stderr).toContain("403 LEDGER_SUSPENDED");

    const { apiKey, apiSecret } = await server.books.createKey({ scopes: ["read"] });
    const reader = { LEDGERCTL_API_KEY: apiKey, LEDGERCTL_API_SECRET: apiSecret };
    expect((await run(["credit", "k", "1", ...usd], reader)).code).toBe(4);
    expect((await run(["balance", "k"], reader)).code).toBe(0);
    expect((await run(["balance", "k"], { ...reader, LEDGERCTL_API_SECRET: "ls_no" })).code).toBe(
      4,
    );
  });

  it("ends with 7 where nothing answers", async () => {
    const away = { LEDGERCTL_URL: "http://127.0.0.1:1" };
    const env = { ...server.env, ...away };
    const ended = await Promise.all(
      [
        ["balance", "k"],
        ["credit", "k", "1", ...usd],
        ["tail", "k"],
      ].map((args) => runCli(["wallet", ...args], { env })),
    );
    for (const end of ended) expect(end).toMatchObject({ code: 7, stdout: "" });
  });
});

describe("reading", () => {
  /** What a command of wallets leaves on a terminal. */
  const see = async (...args: string[]) => {
    const { shown } = await runOnTerminal(["wallet", ...args], { env: server.env, answer: "" });
    return withoutProgress(shown);
  };

  it("prints major units, and smallest ones with --minor", async () => {
    await credit("seen", "12500");
    const major = "balance    125.00 USD\navailable  125.00 USD\n";
    expect(await see("balance", "seen")).toBe(major);
    expect(await run(["balance", "seen"])).toEqual({ code: 0, stderr: "", stdout: major });
    const minor = "balance    12500\navailable  12500\n";
    for (const shown of [["--minor"], ["--quiet"]]) {
      const piped = await run(["balance", "seen", ...shown]);
      expect(piped).toEqual({ code: 0, stderr: "", stdout: minor });
    }
    expect(await json("balance", "seen")).toEqual({ balance: "12500", available: "12500" });
    expect((await run(["history", "seen"])).stdout).toMatch(/credit +125\.00 USD +125\.00 USD/);
    expect((await run(["history", "seen", "--minor"])).stdout).toMatch(/credit +12500 +12500 +0 /);
    expect((await run(["history", "seen", "--csv"])).stdout).toContain("credit,12500,12500,0,");
    const credited = await run(["credit", "minor", "5", "--asset", "USD", "--minor"]);
    expect(credited.stdout).toBe("status     accepted\nbalance    5\navailable  5\n");
    const hold = { amount: "500", assetCode: "USD" };
    const { holdId } = await server.client.reserveFunds(wallet("seen"), hold);
    expect(await see("release", "seen", holdId)).toContain("balance    125.00 USD\n");
    expect(await see("history", "seen")).toMatch(/credit +125\.00 USD +125\.00 USD +0\.00 USD/);
  });

  it("prints major units also of what is not posted, and of no wallet whose name only begins alike", async () => {
    // Its posting waits for a rate.
    await credit("unrated:1", "500", { assetCode: "CHF" });
    const stdout = "balance    5.00 CHF\navailable  5.00 CHF\n";
    expect(await run(["balance", "unrated:1"])).toEqual({ code: 0, stderr: "", stdout });
    expect((await run(["balance", "unrated:"])).stdout).toBe("balance    0\navailable  0\n");
  });

  it("prints smallest units where the key may not ask for the asset", async () => {
    await credit("unseen", "500");
    const made = await runCli(
      ["key", "create", "--org", server.organizationId, "--scope", "wallets:write", "--json"],
      server,
    );
    const { apiKey, apiSecret } = JSON.parse(made.stdout) as Record<string, string>;
    const hold = { amount: "100", assetCode: "USD" };
    const { holdId } = await server.client.reserveFunds(wallet("unseen"), hold);
    const env = { LEDGERCTL_API_KEY: apiKey ?? "", LEDGERCTL_API_SECRET: apiSecret ?? "" };
    const released = await run(["release", "unseen", holdId], env);
    expect([released.code, released.stdout]).toEqual([
      0,
      expect.stringContaining("balance    500\navailable  500\n"),
    ]);
  });

  it("follows a wallet in a pipe in major units, from its first write on, and in smallest ones with --minor", async () => {
    for (const [key, flags, amount] of [
      ["followed", [], "7.50 USD"],
      ["followed minor", ["--minor"], "750"],
    ] as const) {
      const args = ["wallet", "tail", key, "--since", "0", ...flags];
      const { child, result } = startCli(args, { env: server.env });
      child.stdout?.once("data", () => child.kill("SIGINT"));
      await credit(key, "750");
      const { code, stdout } = await result;
      expect([code, stdout]).toEqual([
        130,
        expect.stringMatching(new RegExp(`^\\S+Z {2}${key} +${amount} +${amount} {2}1`)),
      ]);
    }
  });

  it("notes that nothing was ever written to a wallet, and not of one that is empty", async () => {
    const zero = "balance    0\navailable  0\n";
    expect(await see("balance", "nobody")).toBe(
      `${zero}nothing was ever written to wallet nobody\n`,
    );
    expect(await see("balance", "nobody", "--quiet")).toBe(zero);
    await credit("emptied", "5");
    await server.client.debitWallet(wallet("emptied"), { amount: "5", assetCode: "USD" });
    expect(await see("balance", "emptied")).not.toContain("nothing");
    const stderr = "nothing was ever written to wallet nobody\n";
    expect(await run(["balance", "nobody"])).toEqual({ code: 0, stderr, stdout: zero });
    const inJson = await run(["balance", "nobody", "--json"]);
    expect([inJson.code, JSON.parse(inJson.stderr)]).toEqual([0, { note: stderr.trim() }]);
    expect((await run(["balance", "nobody", "--json", "--quiet"])).stderr).toBe("");
  });

  it("says of a new asset that it is no currency, where it may be a slip", async () => {
    const slip = await run(["credit", "slip", "5", "--asset", "UDS"]);
    expect(slip.code).toBe(0);
    expect(slip.stderr).toBe(
      "UDS is no ISO 4217 currency: the ledger takes it as an asset of its own\n",
    );
    expect((await run(["credit", "slip", "5", "--asset", "UDS"])).stderr).toBe("");
  });

  it("prints integers with --minor, and in JSON", async () => {
    await credit("plain", "12345");
    expect(await runBuilt("balance", "plain", "--minor")).toEqual({
      code: 0,
      stderr: "",
      stdout: "balance    12345\navailable  12345\n",
    });
    const unwritten = { balance: "0", available: "0" };
    expect(await json("balance", "never written", "--quiet")).toEqual(unwritten);
  });

  it("lists a log in pages, all of it with --json, and with the entries once they are posted", async () => {
    const writes = Array.from({ length: 105 }, (_, index) => ({
      ...{ callerKey: "long", type: "credit" as const, amount: "1", assetCode: "USD" },
      externalId: `long-${index}`,
    }));
    await server.client.writeWallets(server.ledgerId, writes);
    await posted("long", 105);
    const all = documents<{ seq: number; journalId: string }>(
      (await runBuilt("history", "long", "--json")).stdout,
    );
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 105 }, (_, i) => i + 1));
    for (const { journalId } of all) expect(journalId).toMatch(/^[0-9a-f-]{36}$/);
    const table = await run(["history", "long"]);
    expect(table.stdout.split("\n")).toHaveLength(52);
    expect(table.stdout).toMatch(
      /^SEQ +AT +TYPE +AMOUNT +BALANCE +HELD +EXTERNAL ID +HOLD +POSTED/,
    );
    expect(table.stderr).toBe("there are more: --after 50 goes on, --limit 0 lists everything\n");
    const rest = documents((await run(["history", "long", "--after", "100", "--json"])).stdout);
    expect(rest).toHaveLength(5);
    const some = await run(["history", "long", "--limit", "101", "--json"]);
    expect(documents(some.stdout)).toHaveLength(101);
    expect(await run(["history", "none"])).toEqual({ code: 0, stdout: "", stderr: "none\n" });
  });
});

describe("holds", () => {
  it("reserves, commits a part and releases, and tells a hold that is done for", async () => {
    await credit("holder", "1000");
    const reserve = ["reserve", "holder", "4.00", "--major", ...usd];
    const built = await runBuilt(...reserve, "--expires-in", "10m", "--json");
    const held = JSON.parse(built.stdout) as Figures;
    expect(held).toEqual({
      status: "accepted",
      holdId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      balance: "1000",
      available: "600",
    });
    // There is no --major to advise: of which asset the wallet is, the command does not know.
    const decimal = await run(["commit", "holder", held.holdId ?? "", "1.50"]);
    expect([decimal.code, decimal.stderr]).toEqual([
      2,
      'ledgerctl: AMOUNT must be a whole number of smallest units, not "1.50"; ' +
        "12.50 of a currency with two decimals is written 1250\n",
    ]);
    const committed = await runBuilt("commit", "holder", held.holdId ?? "", "150", "--minor");
    expect(committed).toMatchObject({
      code: 0,
      stdout: "status     accepted\nbalance    850\navailable  850\n",
    });
    expect(await json("commit", "holder", held.holdId ?? "", "150")).toMatchObject({
      status: "duplicate",
    });
    expect((await runBuilt("release", "holder", held.holdId ?? "")).code).toBe(6);

    const quiet = await run([...reserve, "--quiet"]);
    expect(quiet.stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    expect(await json("release", "holder", quiet.stdout.trim())).toEqual({
      status: "accepted",
      balance: "850",
      available: "850",
    });
    expect((await run(["commit", "holder", nobody])).code).toBe(5);
    expect((await run(["release", "holder", "no-such-hold"])).code).toBe(5);
    expect((await run(["reserve", "holder", "851", ...usd])).code).toBe(6);
  });

  it("lets go of a hold that has lapsed", async () => {
    await credit("lapsing", "100");
    const { holdId } = await json<Figures>(
      "reserve",
      "lapsing",
      "60",
      ...usd,
      "--expires-in",
      "1s",
    );
    const balance = () => server.client.getWalletBalance(wallet("lapsing"));
    await until("the hold has lapsed", async () => (await balance()).available === "100");
    expect(await balance()).toEqual({ balance: "100", available: "100" });
    expect((await run(["commit", "lapsing", holdId ?? ""])).code).toBe(6);
  });

  it("ends with 6 where the external id is another write's, since nothing is held", async () => {
    await credit("mixed", "100", { externalId: "a" });
    const reserve = await run(["reserve", "mixed", "1", ...usd, "--external-id", "a", "--quiet"]);
    expect([reserve.code, reserve.stdout]).toEqual([6, "duplicate\n"]);
    expect(reserve.stderr).toContain("nothing is held");
  });
});

/** A running `wallet tail`. */
function startTail(...args: string[]) {
  const { child, result } = startCli(["wallet", "tail", ...args], { env: server.env });
  if (child.stdout === null) throw new Error("stdout is a pipe");
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const messages = () => lines.map((line) => JSON.parse(line) as Message);
  return {
    lines,
    messages,
    /** Waits for a seq of the wallet; postings come again under the seq of the latest write. */
    reach: (seq: number) =>
      expect.poll(() => messages().some((message) => message.seq >= seq)).toBe(true),
    interrupt: () => {
      child.kill("SIGINT");
      return result;
    },
    child,
    result,
  };
}

describe("following wallets", () => {
  it("prints a line a change: time, key, balance, available and seq", async () => {
    await credit("tailed", "100");
    const tail = startTail("tailed", "--since", "0");
    await expect.poll(() => tail.lines.length).toBeGreaterThan(0);
    await server.client.reserveFunds(wallet("tailed"), { amount: "30", assetCode: "USD" });
    await expect.poll(() => tail.lines.join("\n")).toMatch(/ 0\.70 USD {2}2$/m);
    expect(tail.lines[0]).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}tailed {4}1\.00 USD {4}1\.00 USD {2}1$/m,
    );
    await credit("tailed", "5");
    // The posting of what was credited, a moment later, has no seq of its own.
    await expect.poll(() => tail.lines.join("\n")).toMatch(/ {2}3 {2}posted$/m);
    for (const line of tail.lines) expect(line).toMatch(/ {2}[123](?: {2}posted)?$/);
    expect(tail.lines.filter((line) => !line.endsWith("posted"))).toHaveLength(3);
    const ended = await tail.interrupt();
    expect([ended.code, ended.stderr]).toEqual([130, ""]);
  });

  it("follows several wallets from now on, as JSON with the key as it was given", async () => {
    await credit("first", "1");
    const whole = `${server.ledgerId}:second`;
    const tail = startTail("first", whole, "--json");
    // The streams tell nothing when they are there; what is written until then is not theirs.
    await until("both wallets tell", async () => {
      await Promise.all([credit("first", "10"), credit("second", "20")]);
      return new Set(tail.messages().map(({ key }) => key)).size === 2;
    });
    const [message] = tail.messages();
    expect(Object.keys(message ?? {})).toEqual(["key", "type", "balance", "available", "seq"]);
    expect(new Set(tail.messages().map(({ key }) => key))).toEqual(new Set(["first", whole]));
    expect((await tail.interrupt()).code).toBe(130);
  });

  it("misses nothing while the server is restarted, and says that it reconnects", async () => {
    await credit("steady", "1");
    const tail = startTail("steady", "--since", "0", "--json");
    await tail.reach(1);
    await server.restart(async () => {
      // Another server takes writes while the one that is followed is away.
      const { HOME, LEDGERCTL_DATABASE_URL, LEDGERCTL_MASTER_KEY } = server.env;
      const other = await startServerProcess({
        args: ["--port", "0"],
        env: { HOME, LEDGERCTL_DATABASE_URL, LEDGERCTL_MASTER_KEY },
      });
      const { LEDGERCTL_API_KEY: apiKey = "", LEDGERCTL_API_SECRET: apiSecret = "" } = server.env;
      const client = new LedgerClient({ url: other.url, apiKey, apiSecret });
      for (let write = 0; write < 3; write += 1) {
        await client.creditWallet(wallet("steady"), { amount: "1", assetCode: "USD" });
      }
      await client.close();
      await other.end("SIGTERM");
    });
    await credit("steady", "1");
    await tail.reach(5);
    const ended = await tail.interrupt();
    expect(ended.code).toBe(130);
    expect(documents(ended.stderr)).toEqual([
      { note: "ledgerctl: steady: the connection is lost; reconnecting" },
      { note: "ledgerctl: steady: connected again" },
    ]);
    const seqs = documents<Message>(ended.stdout).map(({ seq }) => seq);
    expect([...new Set(seqs)]).toEqual([1, 2, 3, 4, 5]);
    for (const { seq, balance } of documents<Message>(ended.stdout)) {
      expect(balance).toBe(String(seq));
    }
  });

  it("ends at once with the service's refusal", async () => {
    const refused = await run(["tail", `${nobody}:k`]);
    expect([refused.code, refused.stdout]).toEqual([5, ""]);
    expect(refused.stderr).toContain("there is no such ledger");
  });

  it("ends quietly when nobody reads any more", async () => {
    await credit("unread", "1");
    const { child, result } = startCli(["wallet", "tail", "unread", "--since", "0"], {
      env: server.env,
    });
    await once(child.stdout ?? child, "data");
    child.stdout?.destroy();
    await credit("unread", "1");
    const { code, stderr } = await result;
    expect([code, stderr]).toEqual([0, ""]);
  });
});
