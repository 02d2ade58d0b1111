// `asset` on the database, with a server that posts by the rules it makes. The built binary runs each verb, and more of
// their cases run here.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, type CliResult } from "../support/cli.ts";
import { doctorOnceReady } from "../support/doctor.ts";
import { runHere } from "../support/program.ts";

interface Asset {
  assetCode: string;
  rate: string | null;
  exponent: number;
  walletsAccount: string;
  clearingAccount: string;
  overdraftLimit: string;
  maxBalance: string | null;
  dailyDebitMax: string | null;
  pending: string;
}

let server: BinaryServer;
const nobody = "0190b6a0-0000-7000-8000-000000000001";

beforeAll(async () => {
  server = await startBinaryServer();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const run = (args: readonly string[]): Promise<CliResult> => runHere(args, server.env);
const runBuilt = (args: readonly string[]): Promise<CliResult> => runCli(args, server);

async function findAsset(code: string): Promise<Asset | undefined> {
  const { stdout } = await run(["asset", "list", "--json"]);
  return documents<Asset>(stdout).find(({ assetCode }) => assetCode === code);
}

const wallet = (callerKey: string) => ({ ledgerId: server.ledgerId, callerKey });
const credit = (key: string, amount: string, assetCode: string) =>
  server.client.creditWallet(wallet(key), { amount, assetCode });
/** Reads a balance until it is what is expected, or there is an account at all. */
const pollBalance = (account: string) =>
  expect.poll(() => server.client.getBalance(server.ledgerId, { account }));

const eur: Asset = {
  assetCode: "EUR",
  rate: null,
  exponent: 2,
  walletsAccount: "wallets:EUR",
  clearingAccount: "wallets-clearing:EUR",
  overdraftLimit: "0",
  maxBalance: null,
  dailyDebitMax: null,
  pending: "0",
};

describe("the rules of assets", () => {
  it("lists none before an asset is used", async () => {
    const none = { code: 0, stdout: "", stderr: "none\n" };
    expect(await runBuilt(["asset", "list"])).toEqual(none);
  });

  it("lists a currency that waits for its rate, and what waits; given one, it is posted", async () => {
    await credit("e", "1000", "EUR");
    expect(await findAsset("EUR")).toEqual({ ...eur, pending: "1000" });
    const asked = await doctorOnceReady(() => run(["doctor"]));
    expect(asked.code).toBe(1);
    expect(asked.stdout).toMatch(
      /FAIL  postings +what wallets accepted waits for a rate: EUR in ledger [-0-9a-f]{36}\n +Set it with /,
    );
    const set = await runBuilt(["asset", "set", "eur", "--rate", "1.0845", "--json"]);
    expect([set.code, set.stderr]).toEqual([0, ""]);
    expect(JSON.parse(set.stdout)).toMatchObject({
      assetCode: "EUR",
      rate: "1.0845",
    });
    // 1000 × 1.0845 = 1084.5, half to even.
    await pollBalance("wallets:EUR").toMatchObject({ balance: -1084n, currency: "USD" });
    expect(await findAsset("EUR")).toEqual({ ...eur, rate: "1.0845" });
  });

  it("changes what is named and keeps the rest, and shows major units to people", async () => {
    await run(["asset", "set", "GOLD", "--exponent", "3", "--overdraft", "2500"]);
    const set = await run(["asset", "set", "GOLD", "--rate", "60"]);
    expect(set).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "assetCode        GOLD",
        "rate             60",
        "exponent         3",
        "walletsAccount   wallets:GOLD",
        "clearingAccount  wallets-clearing:GOLD",
        "overdraftLimit   2500",
        "maxBalance",
        "dailyDebitMax",
        "pending          0",
        "",
      ].join("\n"),
    });
    const list = await run(["asset", "list"]);
    expect(list.stdout).toMatch(/^ASSET +RATE +EXPONENT +WALLETS ACCOUNT +CLEARING ACCOUNT +OVER/);
    expect(list.stdout).toMatch(/^GOLD +60 +3 +wallets:GOLD +\S+ +2\.500 GOLD +0\.000 GOLD$/m);
    expect((await run(["asset", "set", "GOLD", "--overdraft", "0", "-q"])).stdout).toBe("GOLD\n");
  });

  it("has decimals of its own, in which amounts are read and shown", async () => {
    const done = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await run(args);
      expect([code, stderr], args.join(" ")).toEqual([0, ""]);
      return stdout;
    };
    const tooFine = await run(["wallet", "credit", "anna", "50.00", "--major", "--asset", "GIFT"]);
    expect([tooFine.code, tooFine.stdout]).toEqual([2, ""]);
    expect(tooFine.stderr).toContain("AMOUNT GIFT 50.00 has 2 decimals, but its currency has none");
    await done("asset", "set", "GIFT", "--exponent", "2");
    const credited = await runBuilt([
      ...["wallet", "credit", "anna", "50.00", "--major", "--asset", "GIFT"],
    ]);
    expect(credited).toEqual({
      code: 0,
      stderr: "",
      stdout: "status     accepted\nbalance    50.00 GIFT\navailable  50.00 GIFT\n",
    });
    expect(await done("wallet", "debit", "anna", "1250", "--asset", "GIFT")).toContain(
      "balance    37.50 GIFT\n",
    );
    const held = await done("wallet", "reserve", "anna", "7.5", "--major", "--asset", "GIFT");
    expect(held).toContain("available  30.00 GIFT\n");
    await pollBalance("wallets:GIFT").toMatchObject({ balance: -3750n });
    const balance = await done("balance", "wallets:GIFT", "--currency", "GIFT");
    expect(balance).toMatch(/^wallets:GIFT +-37\.50 GIFT +\d$/m);
    const id = (
      await done("entry", "list", "--account", "wallets:GIFT", "--limit", "1", "-q")
    ).trim();
    const shown = await done("entry", "show", id);
    expect(shown).toMatch(/^wallets:GIFT +-50\.00 USD +-50\.00 GIFT +1$/m);
    expect(shown).toMatch(/^anna +1 +credit +50\.00 GIFT /m);
    expect(await done("asset", "list")).toMatch(/^GIFT +1 +2 +\S+ +\S+ +0\.00 GIFT +0\.00 GIFT$/m);
    expect(await done("export", "--format", "hledger")).toContain("commodity 1000.00 GIFT\n");
    expect(await done("export", "--format", "beancount")).toMatch(/ -?50\.00 GIFT @@ /);
  });

  it("is kept from other decimals than ISO 4217 has for a currency", async () => {
    const set = await run(["asset", "set", "EUR", "--exponent", "3"]);
    expect([set.code, set.stdout]).toEqual([2, ""]);
    expect(set.stderr).toContain("--exponent of EUR is 2, as ISO 4217 has it");
    expect((await run(["asset", "set", "EUR", "--exponent", "2"])).code).toBe(0);
  });

  it("shows amounts in smallest units, and says so, where the key may not read rules", async () => {
    const { stdout } = await run([
      "key",
      "create",
      "--org",
      server.organizationId,
      "--scope",
      "wallets:write",
      "--json",
    ]);
    const [key] = documents<{ apiKey: string; apiSecret: string }>(stdout);
    const env = {
      ...server.env,
      LEDGERCTL_API_KEY: key?.apiKey ?? "",
      LEDGERCTL_API_SECRET: key?.apiSecret ?? "",
    };
    const credit = ["wallet", "credit", "bert", "100", "--asset", "GIFT"];
    const credited = await runHere(credit, env);
    expect(credited.code).toBe(0);
    expect(credited.stdout).toContain("balance    100 GIFT\n");
    expect(credited.stderr).toContain(
      "amounts of GIFT are in smallest units, as the rules of assets",
    );
    const refused = await runHere([...credit, "--major"], env);
    expect([refused.code, refused.stdout]).toEqual([4, ""]);
  });

  it("lets wallets go below zero as far as it says", async () => {
    await run(["asset", "set", "CREDITS", "--overdraft", "100"]);
    const debit = (amount: string) =>
      server.client.debitWallet(wallet("spender"), { amount, assetCode: "CREDITS" });
    await expect(debit("101")).rejects.toMatchObject({ status: 422 });
    expect(await debit("100")).toMatchObject({ balance: "-100" });
  });

  it("posts to the accounts that it names", async () => {
    await run(["asset", "set", "MILES", "--wallets-account", "2000", "--clearing-account", "5000"]);
    await credit("flyer", "70", "MILES");
    await pollBalance("2000").toMatchObject({ balance: -70n });
    expect(await findAsset("MILES")).toMatchObject({ walletsAccount: "2000" });
    const deactivated = await run(["account", "deactivate", "2000"]);
    expect(deactivated.code).toBe(6);
    expect(deactivated.stderr).toContain("MILES");
  });

  it("ends with 5 for a ledger or an account that is not there, naming the flag", async () => {
    const account = await run(["asset", "set", "EUR", "--clearing-account", "nowhere"]);
    expect([account.code, account.stdout]).toEqual([5, ""]);
    expect(account.stderr).toContain("no account nowhere, which --clearing-account names");
    for (const args of [["list"], ["set", "EUR", "--rate", "1"]]) {
      const ledger = await run(["asset", ...args, "--ledger", nobody]);
      expect(ledger).toMatchObject({ code: 5, stdout: "" });
    }
    expect(await findAsset("EUR")).toMatchObject({ rate: "1.0845" });
  });
});
