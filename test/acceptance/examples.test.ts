// The examples of every command's help are run as they stand, in bash on a terminal, against a real server.
import { randomBytes } from "node:crypto";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WalletAddress } from "../../src/client/ledger-client.ts";
import { isRunnable, pathOf, shownCommandsOf } from "../../src/cli/definition/command-tree.ts";
import { createProgram } from "../../src/cli/program.ts";
import { canonicalJson } from "../../src/core/canonical.ts";
import { formatVerifierKey } from "../../src/core/note.ts";
import { scopes } from "../../src/core/ledger.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { certificate } from "../support/certificates.ts";
import { entryDocuments } from "../support/close-vectors.ts";
import { isCluster } from "../support/cluster.ts";
import { makeBundles, monthClose, sales } from "../support/made-closes.ts";
import { hasPython } from "../support/python.ts";
import { programCommand } from "../support/server-process.ts";
import { spawnOnTerminal } from "../support/terminal.ts";
import { journalOrigin, TestLog } from "../support/tlog.ts";

/** Citus has another way for these, which they name when they refuse. */
const notOnCluster = ["ledgerctl backup", "ledgerctl restore"];

const commands = shownCommandsOf(createProgram())
  .filter(isRunnable)
  .filter((command) => !isCluster || !notOnCluster.includes(pathOf(command)));

/** What its user types once the terminal shows something. */
interface Typing {
  readonly after: RegExp;
  readonly type: string;
}

const yes: Typing = { after: /\[y\/N\] /, type: "y\r" };

/** Commands that go on until they are told to end, and what shows that they are at work. */
const endless: Readonly<Record<string, RegExp>> = {
  "ledgerctl serve": /https?:\/\/[^:]+:[0-9]+/,
  "ledgerctl wallet tail": /[0-9]{3}/,
  "ledgerctl entry tail": / connected|[0-9a-f]{8}-[0-9a-f]{4}-7/,
  "ledgerctl top": /[0-9]/,
  "ledgerctl ui": /Assets/,
};

/** Examples of those that end by themselves. */
const ending = /^ledgerctl top .*--(once|json)/;

let server: BinaryServer;
let folder: string;
let env: Record<string, string>;
let alice: WalletAddress;

beforeAll(async () => {
  server = await startBinaryServer({
    LEDGERCTL_LOG_KEY: randomBytes(32).toString("base64"),
    LEDGERCTL_CHECKPOINT_INTERVAL_MS: "100",
  });
  folder = join(server.home, "examples");
  mkdirSync(folder);
  const bin = join(server.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "ledgerctl"), program);
  chmodSync(join(bin, "ledgerctl"), 0o755);
  const key = await server.books.createKey({ scopes });
  env = {
    ...server.env,
    LEDGERCTL_API_KEY: key.apiKey,
    LEDGERCTL_API_SECRET: key.apiSecret,
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    TERM: "xterm",
    LEDGERCTL_CONFIG: join(folder, "config.json"),
    TEST_ORGANIZATION: server.organizationId,
    LEDGER: server.ledgerId,
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  chmodSync(join(folder, "config.json"), 0o600);
  alice = { ledgerId: server.ledgerId, callerKey: "alice" };
  await server.client.creditWallet(alice, { amount: "1000000", assetCode: "USD" });
});

afterAll(async () => {
  await server.stop();
});

/** The hash of the close that the examples before have made. */
async function closeHash(): Promise<string> {
  const { closes } = await server.client.listCloses(server.ledgerId);
  return closes.find(({ periodId }) => periodId === "2026-03")?.closeHash ?? "";
}

const quotedCommand = programCommand.map((word) => `"${word}"`).join(" ");

/**
 * The program, on a free port where the example would take a fixed one, and with a small load of a second where it would
 * take half a minute. A close of everything up to now is of a ledger of its own. The commands that several examples begin
 * with run once; the other examples get the same output.
 */
const program = `#!/bin/sh
ledgerctl() { ${quotedCommand} "$@"; }
case "$1" in
  serve) set -- "$@" --port 0 ;;
  seed) [ $# = 1 ] || set -- "$@" --entries 300 ;;
  bench)
    case "$2" in
      wallets) set -- "$@" --duration 1s --connections 2 --wallets 10 --rate 50 ;;
      transfers) set -- "$@" --duration 1s --connections 2 --wallets 10 --rate 20 ;;
      entries) set -- "$@" --duration 1s --connections 2 --rate 50 ;;
      streams) set -- "$@" --duration 1s --wallets 5 --rate 20 --read-url "$LEDGERCTL_URL" ;;
      overload) set -- "$@" --duration 1s --connections 4 --wallets 10 ;;
      closes)
        ledger=$(ledgerctl ledger create Bench --org "$TEST_ORGANIZATION" --currency USD --chart chart.csv --quiet)
        set -- "$@" --entries 100 --ledger "$ledger"
        ;;
    esac
    ;;
esac
case "$*" in
  "org list --quiet" | "ledger create Trial "*)
    [ -s "$HOME/$1" ] || ledgerctl "$@" > "$HOME/$1" || exit
    exec cat "$HOME/$1"
    ;;
esac
exec ${quotedCommand} "$@"
`;

const [january, february] = makeBundles(sales(1, 2), [monthClose(1, 2), monthClose(2, 2)]);

const journal = new TestLog(journalOrigin, entryDocuments().map(canonicalJson));

/** What the examples name. */
const files: Readonly<Record<string, string>> = {
  "chart.csv": "glAccountCode,name,type\n1000,Cash at bank,asset\n7000,Rent,expense\n",
  "january.csv":
    "externalId,transactionDate,glAccountCode,functionalAmount\n" +
    "jan-1,2026-01-02,1000,700\njan-1,,4000,-700\n",
  "bank.csv": "Date,Payee,Amount\n05.01.2026,Rent January,-800.00\n06.01.2026,Customer,120.00\n",
  "bank.rules":
    "skip\ndate-format %d.%m.%Y\nfields date, description, amount\naccount1 1000\naccount2 4000\n" +
    "if rent\n  account2 2000\n",
  "entries.ndjson":
    '{"lines":[{"glAccountCode":"1000","functionalAmount":"1"},{"glAccountCode":"4000","functionalAmount":"-1"}]}\n',
  "2026-01.ndjson": january?.text ?? "",
  "2026-02.ndjson": february?.text ?? "",
  "secret.txt": `ls_${"x".repeat(43)}\n`,
  "entry.tlog-proof": journal.proof(0),
  "ledger.policy": `log ${formatVerifierKey(journal.signer.verifierKey)}\nquorum none\n`,
  "ledger.pem": certificate.cert,
  "ledger.key": certificate.key,
  "config.json": '{"currentProfile":"local","profiles":{"local":{"url":"http://127.0.0.1:8420"}}}',
};

const hasJq = spawnSync("jq", ["--version"]).status === 0;
if (!hasJq) console.info("examples that pipe into jq are left out: there is no jq");

function helpOf(command: Command): string {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  return help;
}

/** The lines behind `Example:` as somebody copies them, without their prompts. */
function examplesOf(help: string): string[] {
  const [, section = ""] = help.split(/^Examples?:\n/m);
  const examples: string[] = [];
  for (const line of section.trimEnd().split("\n")) {
    if (line.startsWith("  $ ")) examples.push(line.slice(4));
    else examples.push(`${examples.pop() ?? ""}\n${line}`);
  }
  return examples.filter((example) => hasJq || !/\bjq\b/.test(example));
}

/** Runs a script in bash on a terminal, and types when it is time. */
function runInBash(
  script: string,
  typings: readonly Typing[],
): Promise<{ code: number | null; shown: string }> {
  const command = ["bash", "--norc", "-eo", "pipefail", "-c", script];
  const child = spawnOnTerminal(command, { env, cwd: folder });
  child.stdin.on("error", () => undefined);
  return new Promise((resolve, reject) => {
    let shown = "";
    let seen = 0;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
      const fresh = shown.slice(seen);
      const due = typings.find(({ after }) => after.test(fresh));
      if (due === undefined) return;
      seen = shown.length;
      child.stdin.write(due.type);
    });
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, shown });
    });
  });
}

// The terminal is Python's.
describe.skipIf(!hasPython)("the examples of", () => {
  it.each(commands.map((command) => [pathOf(command), command] as const))(
    "%s",
    async (path, command) => {
      const examples = examplesOf(helpOf(command));
      expect(examples.length).toBeGreaterThan(0);
      const atWork = endless[path];
      if (atWork !== undefined) {
        for (const example of examples) {
          const interrupt = { after: atWork, type: "\u0003" };
          const hasEnded = new AbortController();
          const end = runInBash(example, ending.test(example) ? [] : [interrupt]).finally(() => {
            hasEnded.abort();
          });
          // What is followed has to move, if anything is to be shown; a wallet's writes are posted, too.
          while (/ tail$/.test(path) && !hasEnded.signal.aborted) {
            await server.client.creditWallet(alice, { amount: "100", assetCode: "USD" });
            await sleep(100, undefined, { signal: hasEnded.signal }).catch(() => undefined);
          }
          const { code, shown } = await end;
          expect(shown, example).toMatch(atWork);
          // 254: bash itself ended by the signal, as it does where what it waited for did.
          expect([0, 130, 254], `${example}\n${shown}`).toContain(code);
        }
        return;
      }
      const script = examples.join("\n");
      const named = script.includes("$PUBLISHED") ? `PUBLISHED=${await closeHash()}\n` : "";
      const { code, shown } = await runInBash(named + script, [yes]);
      expect(shown, script).not.toContain("ledgerctl:");
      expect(code, `${script}\n${shown}`).toBe(0);
    },
    180_000,
  );
});
