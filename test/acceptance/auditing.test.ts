// docs/auditing.md, run as it stands: each command in the order of the page, and what it prints.
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Close } from "../../src/client/ledger-client.ts";
import { formatOrigin, logKinds, logSigner } from "../../src/core/log-origin.ts";
import { formatVerifierKey } from "../../src/core/note.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { openPageShell, type PageShell } from "../support/page-shell.ts";
import { commandsOfPage, isTranscript, type PageCommand } from "../support/page-transcript.ts";
import { hasPython } from "../support/python.ts";
import { rewriteEntry } from "../support/rewritten-journal.ts";
import { until } from "../support/until.ts";
import { startWitness, type TestWitness } from "../support/witness.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/auditing.md"), "utf8");
const commands = commandsOfPage(page);
const yearBegins = commands.findIndex(({ command }) => command === "ledgerctl log key");

/** The page's invoices, by what it calls them. */
const invoice17 = "01a1fe8b-ae31-7022-967e-4c46f57abb5a";
const invoice4711 = "01a20ddf-0d10-74c6-bd46-26751a2f09fe";
const chart = {
  "1000": ["Cash", "asset"],
  "1100": ["Accounts receivable", "asset"],
  "3000": ["Equity", "equity"],
  "4000": ["Revenue", "income"],
  "5000": ["Expenses", "expense"],
} as const;

const logKey = randomBytes(32);
const logName = "ledger.example.com";
let witness: TestWitness;
let server: BinaryServer;
let folder: string;
let policies: string;
/** The ledger of the first file, and that of the year. */
let ledgers: readonly [october: string, kiosk: string];
let env: Record<string, string>;
/** One for the ledger of the first file, and one for that of the year. */
let shells: readonly [PageShell, PageShell];
const ids = new Map<string, string>();

async function post(ledgerId: string, date: string, text: string, ...lines: [string, number][]) {
  const { journalId } = await server.client.postEntry(ledgerId, {
    transactionDate: `${date}T00:00:00Z`,
    description: text,
    lines: lines.map(([glAccountCode, amount]) => ({
      glAccountCode,
      functionalAmount: String(amount),
    })),
  });
  return journalId;
}

/** The books of the first file. */
async function makeOctober(ledgerId: string): Promise<Close[]> {
  await post(ledgerId, "2026-09-01", "Capital", ["1000", 1_000_000], ["3000", -1_000_000]);
  const september = await server.client.closePeriod(ledgerId, { periodId: "2026-09" });
  await post(ledgerId, "2026-10-01", "Office rent", ["5000", 150_000], ["1000", -150_000]);
  const invoice = await post(
    ledgerId,
    "2026-10-12",
    "Invoice 17",
    ["1100", 480_000],
    ["4000", -480_000],
  );
  ids.set(invoice17, invoice);
  await post(
    ledgerId,
    "2026-10-28",
    "Payment of invoice 17",
    ["1000", 480_000],
    ["1100", -480_000],
  );
  return [september, await server.client.closePeriod(ledgerId, { periodId: "2026-10" })];
}

/** A year of a kiosk, every month of it closed, and an invoice of the month after. */
async function makeYear(ledgerId: string): Promise<void> {
  for (let month = 1; month <= 12; month += 1) {
    const periodId = `2025-${String(month).padStart(2, "0")}`;
    const sales = 400_000 + 12_500 * month;
    await post(ledgerId, `${periodId}-01`, "Rent", ["5000", 80_000], ["1000", -80_000]);
    await post(ledgerId, `${periodId}-28`, "Sales of the month", ["1000", sales], ["4000", -sales]);
    await server.client.closePeriod(ledgerId, { periodId });
  }
  const lines = [
    ["5000", 120_000],
    ["1000", -120_000],
  ] as [string, number][];
  ids.set(invoice4711, await post(ledgerId, "2026-01-12", "Invoice 4711", ...lines));
}

async function createLedger(name: string): Promise<string> {
  const rows = Object.entries(chart).map(([glAccountCode, [text, type]]) => ({
    ...{ glAccountCode, name: text, type, active: true },
  }));
  const ledgerId = await server.books.createLedger({ chart: rows });
  for (const log of logKinds) {
    const origin = formatOrigin(logName, { ledgerId, log, generation: 1 });
    const { verifierKey } = logSigner(logKey, origin);
    witness.trust(verifierKey);
    if (name === "kiosk" && log === "journal") env["LOG_KEY"] = formatVerifierKey(verifierKey);
  }
  return ledgerId;
}

/** Waits until the witness has cosigned everything in both logs of a ledger. */
async function cosigned(ledgerId: string): Promise<void> {
  const { client } = server;
  const totals = {
    journal: (await client.listEntries(ledgerId, { limit: 1 })).total,
    closes: (await client.listCloses(ledgerId, { limit: 1 })).total,
  };
  for (const log of logKinds) {
    await until(`cosigned ${log}`, async () => {
      const { size, cosigners } = await client.getLog(ledgerId, log);
      return size === totals[log] && cosigners.length > 0;
    });
  }
}

beforeAll(async () => {
  witness = await startWitness("w1.example.org");
  policies = mkdtempSync(join(tmpdir(), "ledgerctl-auditing-"));
  const policy = join(policies, "server.policy");
  writeFileSync(policy, `${witness.policyLine}\nquorum ${witness.name}\n`);
  server = await startBinaryServer({
    LEDGERCTL_LOG_KEY: logKey.toString("base64"),
    LEDGERCTL_LOG_NAME: logName,
    LEDGERCTL_LOG_POLICY: policy,
    LEDGERCTL_CHECKPOINT_INTERVAL_MS: "200",
  });
  folder = join(server.home, "auditor");
  mkdirSync(folder);
  symlinkSync(join(root, "scripts"), join(folder, "scripts"));
  env = { ...server.env, WITNESS_KEY: formatVerifierKey(witness.key) };
  ledgers = [await createLedger("october"), await createLedger("kiosk")];
  const closes = await makeOctober(ledgers[0]);
  env["BEFORE"] = closes[0]?.closeHash ?? "";
  env["H"] = closes[1]?.closeHash ?? "";
  for (const { periodId, closeId } of closes) {
    const bundle = await server.client.streamBundle(ledgers[0], closeId);
    const parts: Uint8Array[] = [];
    for await (const part of bundle) parts.push(part);
    writeFileSync(join(folder, `${periodId}.ndjson`), Buffer.concat(parts));
  }
  await makeYear(ledgers[1]);
  await cosigned(ledgers[1]);
  shells = [
    openPageShell(folder, { ...env, LEDGERCTL_LEDGER: ledgers[0] }, "october"),
    openPageShell(folder, { ...env, LEDGERCTL_LEDGER: ledgers[1] }, "kiosk"),
  ];
});

afterAll(async () => {
  await server.stop();
  await witness.close();
  rmSync(policies, { recursive: true });
});

function run(command: string, isOfYear: boolean): ReturnType<PageShell["run"]> {
  let script = command;
  for (const [onPage, id] of ids) script = script.replaceAll(onPage, id);
  return shells[isOfYear ? 1 : 0].run(script);
}

/** Whether a line is what `log watch` says of a fork. */
const isFork = (line: string) => /^ledgerctl: log .*: the log forked: /.test(line);

/** The exit code that the page says a command ends with, by what it prints. */
function exitCode({ output }: PageCommand): number {
  const isFailed = /^(?:FAILED|NOT verified)/m.test(output.join("\n"));
  return isFailed || output.some(isFork) ? 3 : 0;
}

describe.runIf(hasPython)("the commands of docs/auditing.md", () => {
  let conflicts = 0;

  it.each(commands.map((each, index) => [`${index}: ${each.command}`, each, index] as const))(
    "%s",
    async (_, each, index) => {
      if (each.output.some(isFork)) {
        conflicts += 1;
        await rewriteEntry(server, ledgers[1], ids.get(invoice4711) ?? "");
        await post(ledgers[1], "2026-01-20", "Sales", ["1000", 9_900], ["4000", -9_900]);
        await until("the witness to refuse", async () => {
          return (await server.client.getLog(ledgers[1], "journal")).halted !== null;
        });
      }
      const { code, printed } = run(each.command, index >= yearBegins);
      const told = `${each.command}\n${printed}`;
      if (!isTranscript(each.output, printed)) expect(printed).toBe(each.output.join("\n"));
      expect(code, told).toBe(exitCode(each));
    },
  );

  it("are all there, and one of them finds a fork", () => {
    expect(commands.length).toBeGreaterThan(25);
    expect(yearBegins).toBeGreaterThan(0);
    expect(conflicts).toBe(1);
    for (const line of page.match(/^\*\/15 .*$/gm) ?? []) {
      const scheduled = line.replace(/^(?:\S+ +){5}/, "");
      expect(commands.map(({ command }) => command)).toContain(scheduled);
    }
  });
});
