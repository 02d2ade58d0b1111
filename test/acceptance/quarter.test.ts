// docs/month-end.md, run as it stands: a quarter of a business, from its opening balances to the auditor's file. Each command
// in the order of the page, what it prints, and what hledger makes of the books.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import {
  expectBalancesOfHledger,
  expectRegistersOfHledger,
  expectStatementsOfHledger,
  exportBooks,
} from "../support/hledger-reports.ts";
import { hasHledger } from "../support/other-books.ts";
import { openPageShell, type PageShell } from "../support/page-shell.ts";
import { commandsOfPage, filesOfPage, isTranscript } from "../support/page-transcript.ts";

const page = readFileSync(new URL("../../docs/month-end.md", import.meta.url), "utf8");
const commands = commandsOfPage(page);

let server: BinaryServer;
let shell: PageShell;

beforeAll(async () => {
  server = await startBinaryServer();
  const folder = join(server.home, "lindner");
  mkdirSync(folder);
  for (const [name, content] of filesOfPage(page)) writeFileSync(join(folder, name), content);
  shell = openPageShell(folder, { ...server.env, ORG: server.organizationId });
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

/** The exit code that a command of the page ends with, by what it prints. */
function exitCode(output: readonly string[]): number {
  return output.some((line) => /^ {2}\(409 /.test(line)) ? 6 : 0;
}

describe("the commands of docs/month-end.md", () => {
  it.each(commands.map((each, index) => [`${index}: ${each.command}`, each] as const))(
    "%s",
    (_, { command, output }) => {
      const { code, printed } = shell.run(command);
      if (!isTranscript(output, printed)) expect(printed).toBe(output.join("\n"));
      expect(code, printed).toBe(exitCode(output));
    },
  );

  it("are all there, with the files that they read", () => {
    expect(commands.length).toBeGreaterThan(35);
    expect([...filesOfPage(page).keys()]).toEqual([
      "chart.csv",
      "bank-2025-10.csv",
      "bank.rules",
      "bank-2025-11.csv",
      "bank-2025-12.csv",
      "december.csv",
    ]);
  });
});

it.runIf(hasHledger)("hledger has the figures of the books that they make", async () => {
  const ledgers = await server.client.listLedgers();
  const ledgerId = ledgers.find(({ name }) => name === "Lindner")?.id ?? "";
  const place = { client: server.client, env: server.env, folder: server.home };
  const year = await exportBooks(place, ledgerId, ["2025-01-01", "2026-01-01"]);
  await expectRegistersOfHledger(year);
  await expectBalancesOfHledger(year);
  for (const step of ["month", "quarter", "year"] as const) {
    await expectStatementsOfHledger(year, step);
  }
});
