// Three years of a household's books, from the file to balances that beancount computed. The data is not
// part of the repository: LEDGERCTL_TEST_HOUSEHOLD_DIR says where it is.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkSource } from "../../src/cli/commands/merkle/check-close.ts";
import { readEnvironment } from "../../src/config.ts";
import type { CloseWithBalances } from "../../src/contract/types.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli, startCli, type CliResult } from "../support/cli.ts";
import { hasPython } from "../support/python.ts";
import { runSecondVerifierOnEach } from "../support/second-verifier.ts";

const folder = process.env["LEDGERCTL_TEST_HOUSEHOLD_DIR"] ?? "";

if (folder === "") {
  console.info("the household's books are left out: LEDGERCTL_TEST_HOUSEHOLD_DIR is not set");
}

interface ExpectedBalance {
  glAccountCode: string;
  /** Of the transaction; absent where the balance is in functional currency. */
  currency?: string;
  balance: number;
  entryCount: number;
}

interface Expected {
  entries: number;
  functional: ExpectedBalance[];
  byCurrency: ExpectedBalance[];
  /** By year, then by account: the balance when the year was over. */
  closingByYear: Record<string, Record<string, string>>;
}

const twoDigits = (number: number) => String(number).padStart(2, "0");

describe.runIf(folder !== "")("the household's books", () => {
  const file = join(folder, "entries.ndjson");
  let server: BinaryServer;
  let expected: Expected;
  /** Where commands find the books that were posted whole. */
  let house: Record<string, string>;

  beforeAll(async () => {
    server = await startBinaryServer();
    expected = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as Expected;
  });

  afterAll(async () => {
    await server.stop();
  });

  async function createLedger(name: string): Promise<Record<string, string>> {
    const { code, stdout, stderr } = await runCli(
      [
        ...["ledger", "create", name, "--org", server.organizationId, "--currency", "USD"],
        ...["--chart", join(folder, "chart.csv"), "--json"],
      ],
      server,
    );
    expect(code, stderr).toBe(0);
    return { ...server.env, LEDGERCTL_LEDGER: (JSON.parse(stdout) as { id: string }).id };
  }

  const run = (env: Record<string, string>, args: string[]): Promise<CliResult> =>
    runCli(args, { env });

  function post(env: Record<string, string>): Promise<CliResult> {
    return runCli(["entry", "post", file], { env });
  }

  /** How it ended, how many it posted, and how many were there already. */
  function counted({ code, stderr }: CliResult): [number | null, number, number] {
    const counts = /^posted (\d+), already there (\d+), failed 0 /m.exec(stderr);
    return [code, Number(counts?.[1]), Number(counts?.[2])];
  }

  async function expectBalances(env: Record<string, string>): Promise<void> {
    for (const row of [...expected.functional, ...expected.byCurrency]) {
      const { glAccountCode: account, currency, balance, entryCount } = row;
      const query = { account, ...(currency === undefined ? {} : { currency }) };
      expect(await server.client.getBalance(env["LEDGERCTL_LEDGER"] ?? "", query)).toMatchObject({
        balance: BigInt(balance),
        entryCount,
      });
    }
  }

  it("post whole in spite of SIGKILL half-way, a second time not at all, and balance as beancount says", async () => {
    house = await createLedger("House");
    const { child, result } = startCli(["entry", "post", "-"], { env: house });
    // It waits for the rest, however fast it is.
    child.stdin?.write(readFileSync(file, "utf8").split("\n").slice(0, 600).join("\n"));
    for (let lines = 0; lines < 300 && child.stdout !== null;) {
      const [text] = (await once(child.stdout, "data")) as [string];
      lines += text.split("\n").length - 1;
    }
    child.kill("SIGKILL");
    expect((await result).code).toBe(null);
    const { entries } = expected;
    const [code, posted, found] = counted(await post(house));
    expect(code).toBe(0);
    expect(found).toBeGreaterThan(0);
    expect(posted + found).toBe(entries);
    expect(counted(await post(house))).toEqual([0, 0, entries]);
    await expectBalances(house);
  });

  it("close by month and by year, and both verifiers agree with every record", async () => {
    const ledgerId = house["LEDGERCTL_LEDGER"] ?? "";
    const bundles: [string, string][] = [];
    for (const year of Object.keys(expected.closingByYear)) {
      const months = Array.from({ length: 12 }, (_, index) => `${year}-${twoDigits(index + 1)}`);
      for (const periodId of [...months, year]) {
        const { closeId, closeHash } = await server.client.closePeriod(ledgerId, { periodId });
        const bundle = join(server.home, `${periodId}.ndjson`);
        await writeFile(bundle, await server.client.streamBundle(ledgerId, closeId));
        const verdict = await checkSource({ bundle }, readEnvironment({}), closeHash);
        expect(verdict).toMatchObject({ ok: true, anchored: true });
        bundles.push([bundle, closeHash]);
      }
      const shown = await run(house, ["period", "show", year, "--json"]);
      const { balances, closeHash } = JSON.parse(shown.stdout) as CloseWithBalances;
      const closing = Object.fromEntries(
        balances.map(({ glAccountCode, closing: amount }) => [glAccountCode, amount]),
      );
      expect(closing).toEqual(expected.closingByYear[year]);
      expect((await run(house, ["merkle", "verify", "--period", year])).code).toBe(0);
      const written = join(server.home, "written.ndjson");
      expect((await run(house, ["bundle", year, "--out", written])).code).toBe(0);
      expect(readFileSync(written)).toEqual(readFileSync(join(server.home, `${year}.ndjson`)));
      const verify = ["merkle", "verify", "--bundle", written, "--expect", closeHash];
      expect(await run({}, verify)).toMatchObject({ code: 0, stderr: "" });
    }
    if (hasPython) expect(runSecondVerifierOnEach(bundles)).toEqual(bundles.map(() => 0));
  }, 900_000);
});
