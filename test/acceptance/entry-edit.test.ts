// `entry post --edit`, with editors that are scripts: what they are shown, and what becomes of what they leave.
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Entry } from "../../src/client/ledger-client.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli, startCli, type CliResult } from "../support/cli.ts";
import { openLosingProxy } from "../support/losing-proxy.ts";
import { until } from "../support/until.ts";

let server: BinaryServer;
let folder: string;
let before: number;

beforeAll(async () => {
  server = await startBinaryServer();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

beforeEach(async () => {
  folder = mkdtempSync(join(server.home, "edit-"));
  before = await total();
});

const total = async () => (await server.client.listEntries(server.ledgerId, { limit: 1 })).total;

/**
 * The environment of an editor that does one step each time it opens, a command of the shell on "$1", and keeps what it was
 * shown as `shown-1`, `shown-2` …, and how the file could be read.
 */
function editor(...steps: string[]): Record<string, string> {
  const script = join(folder, "editor.sh");
  const cases = steps.map((step, index) => `${index + 1}) ${step} ;;\n`).join("");
  writeFileSync(
    script,
    `n=$(($(ls "${folder}" | grep -c shown) + 1)); cp "$1" "${folder}/shown-$n"
     stat -c '%a %n' "$1" "$(dirname "$1")" > "${folder}/modes"
     case $n in ${cases} *) echo "opened once more"; exit 9 ;; esac`,
  );
  return { ...server.env, EDITOR: `sh ${script}`, TMPDIR: folder };
}

const shown = (time: number) => readFileSync(join(folder, `shown-${time}`), "utf8");
const openedTimes = () => readdirSync(folder).filter((name) => name.startsWith("shown-")).length;

const write = (...lines: string[]) =>
  `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(" ")} > "$1"`;
const good = write("description: Rent", "5000 800.00", "1000 -800.00");

const edit = (env: Record<string, string>, ...args: string[]): Promise<CliResult> =>
  runCli(["entry", "post", "--edit", ...args], { env });

async function newest(): Promise<Entry> {
  expect(await total()).toBe(before + 1);
  const [entry] = (
    await server.client.listEntries(server.ledgerId, { direction: "desc", limit: 1 })
  ).entries;
  if (entry === undefined) throw new Error("there is an entry");
  return entry;
}

describe("entry post --edit", () => {
  it("posts what the editor leaves, from a private file that is gone afterwards", async () => {
    const { code, stdout, stderr } = await edit(editor(good), "--date", "2026-03-15", "--quiet");
    expect([code, stderr]).toEqual([0, ""]);
    const entry = await newest();
    expect(stdout).toBe(`${entry.journalId}\n`);
    // The date was in the file, and the file was written anew without it.
    expect(shown(1)).toMatch(/^date: 2026-03-15\ntype: STANDARD\ndescription:\nexternalId:\n/m);
    expect(shown(1)).toContain("#   1100  Accounts receivable\n");
    expect(entry).toMatchObject({
      description: "Rent",
      lines: [
        { glAccountCode: "5000", functionalAmount: "80000" },
        { glAccountCode: "1000", functionalAmount: "-80000" },
      ],
    });
    const [file, directory] = readFileSync(join(folder, "modes"), "utf8").trim().split("\n");
    expect([file?.slice(0, 4), directory?.slice(0, 4)]).toEqual(["600 ", "700 "]);
    expect(existsSync(file?.slice(4) ?? "")).toBe(false);
    expect(existsSync(directory?.slice(4) ?? "")).toBe(false);
  });

  it("says what is wrong at the top, and opens again until it is mended", async () => {
    await server.client.closePeriod(server.ledgerId, { periodId: "2019-01" });
    const env = editor(
      write("# mine", "type: OTHER", "5000 800,00", "1000 -800.00"),
      write("5000 800.00", "1000 -799.99"),
      write("5000 800.00", "1001 -800.00"),
      write("date: 2019-01-31", "5000 800.00", "1000 -800.00"),
      `sed -i 's/2019-01-31/2019-02-01/' "$1"`,
    );
    const { code, stderr } = await edit(env);
    expect([code, stderr]).toEqual([0, ""]);
    expect(await newest()).toMatchObject({ transactionDate: "2019-02-01T00:00:00.000Z" });
    expect(openedTimes()).toBe(5);
    expect(shown(2)).toMatch(
      /^#! These 2 things are wrong:\n#! line 5: type must be one of .*\n#! line 6: a line is an account and an amount, .*\n# mine\ntype: OTHER\n5000 800,00\n/,
    );
    expect(shown(3)).toMatch(
      /^#! This is wrong:\n#! the lines must sum to zero, and sum to 0\.01 USD\n5000 800\.00\n/,
    );
    expect(shown(4)).toMatch(
      /^#! These 2 things are wrong:\n#! line 5: the ledger has no account "1001"\n#! Did you mean .*1000.*\n/,
    );
    expect(shown(5)).toMatch(/^#! This is wrong:\n#! the transactionDate is .* which is closed/);
  });

  it("ends with what is wrong where the file comes back as it was", async () => {
    const same = await edit(editor(write("5000 1.00", "1000 -2.00"), "true"));
    expect([same.code, same.stdout, same.stderr]).toEqual([
      2,
      "",
      expect.stringContaining("the lines must sum to zero, and sum to -1.00 USD"),
    ]);
    await server.client.closePeriod(server.ledgerId, { periodId: "2019-03" });
    const closed = write("date: 2019-03-01", "5000 1.00", "1000 -1.00");
    folder = mkdtempSync(join(server.home, "edit-"));
    const refused = await edit(editor(closed, "true"), "--json");
    expect(refused.code).toBe(6);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: "PERIOD_CLOSED", exit: 6 } });
    expect(await total()).toBe(before);
  });

  it.each([
    ["the file is emptied", ': > "$1"', []],
    [
      "nothing but comments is left",
      "sed -i 's/^/# /' \"$1\"",
      ["--line", "1000:5", "--line", "4000:-5"],
    ],
    ["the file is removed", 'rm "$1"', []],
    ["nothing was typed", "true", []],
    ["the editor fails", "exit 3", ["--line", "1000:5", "--line", "4000:-5"]],
  ])("posts nothing and ends with 1 where %s", async (_, step, flags) => {
    const { code, stdout, stderr } = await edit(editor(step), ...flags);
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("nothing was posted")]);
    expect(await total()).toBe(before);
  });

  it("opens with what flags and an old entry say, and posts it untouched", async () => {
    const lines = [
      {
        glAccountCode: "1100",
        functionalAmount: "9250",
        transactionAmount: "8529",
        spotRate: 1.0845,
      },
      { glAccountCode: "4000", functionalAmount: "-9250", description: "Consulting" },
    ].map((line) => ("spotRate" in line ? { ...line, transactionCurrency: "EUR" } : line));
    const description = 'An "invoice"';
    const old = await server.client.postEntry(server.ledgerId, { description, lines });
    before += 1;
    const flags = ["--like", old.journalId, "--type", "ADJUSTING", "--external-id", "again-1"];
    const { code, stderr } = await edit(editor("true"), ...flags);
    expect([code, stderr]).toEqual([0, "1100: 85.29 EUR at 1.0845 is 92.50 USD\n"]);
    expect(shown(1)).toMatch(/^1100 {3}85\.29 EUR @ 1\.0845\n4000 {2}-92\.50 {2}; Consulting\n/m);
    const { externalId, entryType, ...entry } = await newest();
    expect([externalId, entryType, entry.description]).toEqual([
      "again-1",
      "ADJUSTING",
      description,
    ]);
    expect(entry.lines).toEqual(
      (await server.client.getEntry(server.ledgerId, old.journalId)).lines,
    );
  });

  it("prints what would be sent with --dry-run", async () => {
    const { code, stdout } = await edit(editor(good), "--dry-run");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      description: "Rent",
      externalId: expect.any(String) as unknown,
    });
    expect(await total()).toBe(before);
  });

  it("takes VISUAL before EDITOR, and needs a terminal where there is neither", async () => {
    const { EDITOR = "", ...env } = editor(good);
    const visual = await edit({ ...env, VISUAL: `${EDITOR} `, EDITOR: "false" });
    expect(visual.code, visual.stderr).toBe(0);
    const none = await edit(env);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("VISUAL and EDITOR")]);
    const missing = await edit({ ...env, EDITOR: "/nonexistent/editor -w" });
    expect(missing.code).toBe(1);
  });

  it("posts once where the answer is lost, and where nobody answers gives the entry back to be posted once", async () => {
    const proxy = await openLosingProxy(Number(new URL(server.url).port));
    const wait = `touch "${folder}/open"; until [ -e "${folder}/go" ]; do sleep 0.05; done; ${good}`;
    const lossy = edit({ ...editor(wait), LEDGERCTL_URL: proxy.url });
    await until("the editor", () => Promise.resolve(existsSync(join(folder, "open"))));
    proxy.answersToLose = 1;
    writeFileSync(join(folder, "go"), "");
    expect(await lossy).toMatchObject({ code: 0 });
    expect(proxy.answersToLose).toBe(0);
    await newest();
    folder = mkdtempSync(join(server.home, "edit-"));
    const later = `touch "${folder}/open"; until [ -e "${folder}/go" ]; do sleep 0.05; done; ${good}`;
    const cut = edit({ ...editor(later), LEDGERCTL_URL: proxy.url });
    await until("the editor", () => Promise.resolve(existsSync(join(folder, "open"))));
    proxy.answersToLose = Infinity;
    writeFileSync(join(folder, "go"), "");
    const { code, stdout, stderr } = await cut;
    expect([code, stdout]).toEqual([7, ""]);
    proxy.close();
    const [given = ""] = /^\{.*\}$/m.exec(stderr) ?? [];
    const again = await runCli(["entry", "post", "-"], { env: server.env, input: given });
    // It had been posted: that answer alone was lost.
    expect(again.code).toBe(6);
    expect(await total()).toBe(before + 2);
  });

  it("leaves no file behind where a signal ends it", async () => {
    const env = editor(`touch "${folder}/open"; sleep 5`);
    const { child, result } = startCli(["entry", "post", "--edit"], { env });
    await until("the editor", () => Promise.resolve(existsSync(join(folder, "open"))));
    child.kill("SIGTERM");
    await until("no file", () => {
      return Promise.resolve(!readdirSync(folder).some((name) => name.startsWith("ledgerctl-")));
    });
    expect((await result).code).toBe(130);
    expect(await total()).toBe(before);
  });
});
