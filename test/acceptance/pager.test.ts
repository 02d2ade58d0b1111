// The pager on a real terminal: what goes to it, what does not, and how it is quit.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli } from "../support/cli.ts";
import { hasPython } from "../support/python.ts";
import { TestScreen } from "../support/screen.ts";
import { until } from "../support/until.ts";

let server: BinaryServer;

const short = [100, 5];
const tall = [100, 24];
/** Marks what goes through it. */
const marking = "sed s/^/paged:/";

beforeAll(async () => {
  server = await startBinaryServer();
  const entries = Array.from({ length: 1_000 }, (_, index) => ({
    externalId: `e${index}`,
    transactionDate: "2026-01-01T00:00:00Z",
    eventType: "sale",
    originSystem: "shop",
    originAccount: "till",
    description: "x".repeat(200),
    lines: [line("1000", String(index + 1)), line("4000", String(-index - 1))],
  }));
  await server.client.postEntries(server.ledgerId, entries);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

function line(glAccountCode: string, amount: string) {
  return {
    glAccountCode,
    functionalAmount: amount,
    functionalCurrency: "USD",
    transactionAmount: amount,
    transactionCurrency: "USD",
  };
}

/** All that a terminal shows of a command, and its exit code. */
async function shown(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  size = short,
): Promise<{ code: number; text: string }> {
  const screen = new TestScreen(args, { ...server.env, ...env }, size);
  const { code, isCooked } = await screen.ended();
  expect(isCooked).toBe(true);
  return { code, text: screen.printed.replaceAll("\r\n", "\n") };
}

const bold = (text: string) => `\u001b[1m${text}\u001b[22m`;

// Python makes the terminal.
describe.runIf(hasPython)("results on a terminal", () => {
  test("go to the pager where they are longer than it, with bold headings", async () => {
    const { code, text } = await shown(["account", "list"], { PAGER: marking });
    expect(code).toBe(0);
    expect(text).toMatch(new RegExp(`^paged:\\u001b\\[1mCODE\\u001b\\[22m`));
    expect(text).toContain("paged:1000");
    expect(text.match(/^paged:/gm)).toHaveLength(text.trimEnd().split("\n").length);
  });

  test("are printed where they fit, and with --no-pager", async () => {
    for (const [args, size] of [
      [["account", "list"], tall],
      [["account", "list", "--no-pager"], short],
    ] as const) {
      const { code, text } = await shown(args, { PAGER: marking }, [...size]);
      expect(code).toBe(0);
      expect(text).toContain(bold("CODE"));
      expect(text).not.toContain("paged:");
    }
  });

  test.each([["--json"], ["--csv"], ["--quiet"], ["--jq=."]])(
    "are printed with %s",
    async (flag) => {
      const { code, text } = await shown(["account", "list", flag], { PAGER: marking });
      expect(code).toBe(0);
      expect(text).toContain("1000");
      expect(text).not.toContain("paged:");
      expect(text).not.toContain("\u001b");
    },
  );

  test("are printed where LEDGERCTL_PAGER or PAGER is cat, and on a terminal that can't move its cursor", async () => {
    for (const env of [
      { LEDGERCTL_PAGER: "cat", PAGER: marking },
      { PAGER: "cat" },
      { PAGER: marking, TERM: "dumb" },
    ]) {
      const { code, text } = await shown(["account", "list"], env);
      expect(code).toBe(0);
      expect(text).toContain("1000");
      expect(text).not.toContain("paged:");
    }
  });

  test("go to the program that LEDGERCTL_PAGER names rather than PAGER", async () => {
    const env = { LEDGERCTL_PAGER: "sed s/^/ours:/", PAGER: marking };
    expect((await shown(["account", "list"], env)).text).toMatch(/^ours:/);
  });

  test("are printed whole where the pager is not there", async () => {
    const { code, text } = await shown(["account", "list"], { PAGER: "no-such-pager" });
    expect(code).toBe(0);
    expect(text).toMatch(/no-such-pager/);
    expect(text).toContain(bold("CODE"));
    expect(text).toMatch(/^5000 /m);
  });

  test("are printed whole where there is no less", async () => {
    const bin = join(server.home, "bin");
    mkdirSync(bin);
    symlinkSync("/bin/cat", join(bin, "cat"));
    const { code, text } = await shown(["account", "list"], { PATH: bin });
    expect(code).toBe(0);
    expect(text).toMatch(/^\u001b\[1mCODE/);
    expect(text).toMatch(/^5000 /m);
  });

  test("end quietly with 0 where the pager is quit before all is read", async () => {
    const { code, text } = await shown(["entry", "list", "--limit", "0"], { PAGER: "head -n 3" });
    expect(code).toBe(0);
    expect(text.trimEnd().split("\n")).toHaveLength(3);
  });

  test("keep their exit code, and what is said of them comes after the pager", async () => {
    const bundle = join(server.home, "damaged.ndjson");
    await runCli(["period", "close", "2026-01", "--yes"], server);
    const made = await runCli(["bundle", "2026-01", "--out", "-"], server);
    writeFileSync(bundle, made.stdout.replace('"debits":"500500"', '"debits":"500501"'));
    const { code, text } = await shown(["trial-balance", "--bundle", bundle], { PAGER: marking });
    expect(code).toBe(3);
    const lines = text.trimEnd().split("\n");
    const lastPaged = lines.findLastIndex((row) => row.startsWith("paged:"));
    expect(lastPaged).toBeGreaterThan(2);
    expect(lines.slice(lastPaged + 1).join("\n")).toContain("does not match itself");
  });
});

const hasLess = await isInstalled("less");

describe.runIf(hasPython && hasLess)("less", () => {
  test("shows a page, goes on, and ends with q; the command ends with 0", async () => {
    const screen = new TestScreen(["account", "list"], server.env, short);
    await until("the first page", () => /CODE[^]*1000[^]*:/.test(screen.output));
    expect(screen.output).not.toContain("5000");
    screen.press("G");
    await until("the last row", () => screen.output.includes("5000"));
    screen.press("q");
    expect(await screen.ended()).toEqual({ code: 0, isCooked: true });
  });

  test("has Ctrl-C for itself", async () => {
    const screen = new TestScreen(["account", "list"], server.env, short);
    await until("the first page", () => /CODE[^]*1000[^]*:/.test(screen.output));
    screen.press("\u0003");
    // With the interrupt less forgets what was typed.
    await until("the last row", () => {
      screen.press("G");
      return screen.output.includes("5000");
    });
    screen.press("q");
    expect(await screen.ended()).toEqual({ code: 0, isCooked: true });
  });
});

async function isInstalled(program: string): Promise<boolean> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, program);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return true;
  }
  return false;
}
