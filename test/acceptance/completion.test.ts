// Completion with names that a running service knows: what is offered, and through real shells by the built binary.
import { execFileSync } from "node:child_process";
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli } from "../support/cli.ts";
import { entry } from "../support/entries.ts";
import { runHere } from "../support/program.ts";
import { binaryPath } from "../support/server-process.ts";
import { spawnOnTerminal } from "../support/terminal.ts";
import { until } from "../support/until.ts";

let server: BinaryServer;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = await startBinaryServer();
  env = server.env;
  const add = ["account", "add", "Petty cash", "Cash in the drawer", "--type", "asset"];
  expect((await runCli(add, { env })).code).toBe(0);
  const { client, ledgerId } = server;
  const march = { ...entry(5), transactionDate: "2026-03-05T00:00:00Z" };
  await client.postEntry(ledgerId, march);
  await client.closePeriod(ledgerId, { periodId: "2026-03" });
  for (const callerKey of ["alice", "albert", "bob"]) {
    await client.creditWallet({ ledgerId, callerKey }, { amount: "100", assetCode: "USD" });
  }
  const count = async () => (await complete("wallet", "balance", "")).candidates.length;
  await until("the wallets are offered", async () => (await count()) === 3);
});

afterAll(async () => {
  await server.stop();
});

async function complete(...words: string[]) {
  const { code, stdout, stderr } = await runHere(["__complete", "fish", "--", ...words], env);
  expect([code, stderr]).toEqual([0, ""]);
  const [how, ...lines] = stdout.trimEnd().split("\n");
  return { how, candidates: lines.map((line) => line.split("\t")[0]), lines };
}

describe("what may stand at the cursor", () => {
  it("is a command, without those that are hidden", async () => {
    const { candidates, lines } = await complete("");
    expect(candidates).toContain("entry");
    expect(candidates).not.toContain("__complete");
    expect(lines).toContain("balance\tthe balance of an account; debits are positive");
    expect((await complete("entry", "re")).candidates).toEqual(["reverse", "revalue"]);
    expect((await complete("wallet", "re")).candidates).toEqual(["reserve", "release"]);
  });

  it("is an option that is not there yet, or may be repeated", async () => {
    const words = ["entry", "post", "--line", "1000:1", "--major", "--"];
    const { candidates } = await complete(...words);
    expect(candidates).toContain("--line");
    expect(candidates).toContain("--dry-run");
    expect(candidates).not.toContain("--major");
  });

  it("is a name that the service knows", async () => {
    // What the service does not tell within a second is left out.
    const offered = (...words: string[]) => expect.poll(() => complete(...words));
    await offered("balance", "1").toMatchObject({
      lines: ["1000\tCash", "1100\tAccounts receivable"],
    });
    await offered("entry", "list", "--account=4").toMatchObject({ candidates: ["--account=4000"] });
    await offered("entry", "post", "--line", "11").toMatchObject({
      how: "nospace",
      candidates: ["1100:"],
    });
    await offered("period", "show", "").toMatchObject({
      lines: [expect.stringMatching(/^2026-03\tclosed on [0-9]{4}-[0-9]{2}-[0-9]{2}$/)],
    });
    // A month that ends meanwhile is offered still.
    const thisMonth = new Date().toISOString().slice(0, 7);
    const open = await until("the months that are open", async () => {
      const { candidates } = await complete("period", "close", "20");
      return candidates.includes(thisMonth) && candidates;
    });
    expect(open).not.toContain("2026-03");
    await offered("wallet", "debit", "al").toMatchObject({ candidates: ["albert", "alice"] });
    await offered("ledger", "suspend", "").toMatchObject({ candidates: [server.ledgerId] });
  });

  it("is a fixed word, a topic or a file", async () => {
    expect((await complete("entry", "post", "--format", "")).candidates).toEqual([
      "csv",
      "json",
      "ndjson",
    ]);
    expect((await complete("export", "--format", "")).candidates).toEqual([
      "hledger",
      "beancount",
      "csv",
      "ndjson",
    ]);
    expect((await complete("help", "p")).candidates).toEqual([
      "periods",
      "proofs",
      "period",
      "profile",
    ]);
    expect((await complete("help", "entry", "p")).candidates).toEqual(["post"]);
    expect(await complete("merkle", "check", "x")).toMatchObject({ how: "files", candidates: [] });
    expect((await complete("entry", "reverse", "x")).candidates).toEqual([]);
  });

  it("is a profile", async () => {
    const config = join(server.home, "profiles.json");
    writeFileSync(config, `{"profiles":{"local":{"url":"http://a"},"live":{}}}`, { mode: 0o600 });
    const words = ["__complete", "fish", "--", "profile", "use", "l"];
    const { stdout } = await runHere(words, { ...env, LEDGERCTL_CONFIG: config });
    expect(stdout).toBe("space\nlocal\thttp://a\nlive\n");
  });

  it.each([
    ["nobody answers", { LEDGERCTL_URL: "http://127.0.0.1:9" }],
    ["the secret is wrong", { LEDGERCTL_API_SECRET: "ls_wrong" }],
    ["there are no credentials", { LEDGERCTL_API_KEY: "" }],
    ["the profile is not there", { LEDGERCTL_PROFILE: "none" }],
  ])("is nothing, and said is nothing, where %s", async (_, more) => {
    const words = ["__complete", "fish", "--", "balance", ""];
    const ended = await runHere(words, { ...env, ...more });
    expect(ended).toEqual({ code: 0, stdout: "space\n", stderr: "" });
  });
});

it("refuses a shell that it does not know", async () => {
  expect(await runHere(["completion", "fihs"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "ledgerctl: SHELL must be one of bash, zsh, fish\n  Did you mean fish?\n",
  });
});

/** How each shell begins without its user's settings and loads the script. */
const shells = {
  bash: { args: ["--norc", "--noprofile", "-i"], load: "source <(ledgerctl completion bash)" },
  zsh: {
    args: ["-f", "-i"],
    load: "autoload -U compinit && compinit -u -D && source <(ledgerctl completion zsh)",
  },
  fish: { args: ["--no-config", "-i"], load: "ledgerctl completion fish | source" },
};

function isInstalled(shell: string): boolean {
  try {
    execFileSync(shell, ["-c", "exit"]);
    return true;
  } catch {
    return false;
  }
}

describe("in a real shell", () => {
  it.for(Object.keys(shells) as (keyof typeof shells)[])(
    "completes in %s",
    async (shell, context) => {
      context.skip(!isInstalled(shell), `there is no ${shell}`);
      const bin = mkdtempSync(join(server.home, "bin-"));
      symlinkSync(binaryPath, join(bin, "ledgerctl"));
      const { args, load } = shells[shell];
      const terminal = openTerminal([shell, ...args], {
        ...env,
        PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      });
      try {
        await terminal.run(load);
        // What the shell completed is run: its output tells what the words became.
        for (const [line, output] of [
          ["ledgerctl regis\t110\t--no-color", "1100  Accounts receivable"],
          ["ledgerctl balance Pet\t --json", '{"glAccountCode":"Petty cash"'],
          [
            "ledgerctl entry post --dry-run --line 110\t7 --line wallets:U\t-7",
            '{"glAccountCode":"wallets:USD","functionalAmount":"-7"}',
          ],
        ] as const) {
          // A name that the service does not tell within a second is not completed.
          await until(output, async () => (await terminal.run(line)).includes(output));
        }
      } finally {
        terminal.end();
      }
    },
  );
});

function openTerminal(command: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawnOnTerminal(command, { env: { TERM: "dumb", PS1: "$ ", ...env } });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  return {
    /** Types a line, and resolves with what the terminal shows up to its end. */
    run: async (line: string): Promise<string> => {
      const before = shown.length;
      const sinceThen = () => shown.slice(before).replaceAll("\r", "");
      child.stdin.write(`${line}; echo en""ded\r`);
      await until(`the end of ${line}`, () => sinceThen().includes("\nended"));
      return sinceThen();
    },
    end: () => child.kill(),
  };
}
