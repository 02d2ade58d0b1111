// Live screens in a real terminal: what they show, keys, sizes, and the terminal that they leave behind.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli, startCli } from "../support/cli.ts";
import { hasPython } from "../support/python.ts";
import { afterScreen, isLeftClean, TestScreen } from "../support/screen.ts";

let server: BinaryServer;

beforeAll(async () => {
  server = await startBinaryServer();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

function credit(callerKey: string, amount: string): Promise<unknown> {
  return server.client.creditWallet(
    { ledgerId: server.ledgerId, callerKey },
    { amount, assetCode: "USD" },
  );
}

function tail(...args: string[]): TestScreen {
  return new TestScreen(["wallet", "tail", ...args], server.env);
}

async function expectEnd(screen: TestScreen, code: number): Promise<void> {
  expect(await screen.ended()).toEqual({ code, isCooked: true });
  expect(isLeftClean(screen.output)).toBe(true);
}

// Python makes the terminal.
describe.runIf(hasPython)("wallet tail on a terminal", () => {
  test("shows wallets live, obeys keys and sizes, and ends with q", async () => {
    await credit("alice", "500");
    const screen = tail("alice", "bob", "carol");
    await screen.until("3 wallets");
    await screen.until(/changes\/s {2}connected {2}as given/);
    expect(screen.frame.join("\n")).toMatch(/^› alice +USD +5\.00 +5\.00 +0\.00 /m);
    await credit("bob", "25");
    await screen.until(/^ {2}bob +USD +0\.25 +0\.25 +0\.00 +\+0\.25 /m);
    screen.press("j");
    await screen.until(/^› bob /m);
    screen.press("\u001b[B");
    await screen.until(/^› carol /m);
    screen.press("s");
    await screen.until("by name");
    screen.press("d");
    await screen.until("balance 0, available 0, held 0;");
    screen.press("p");
    await screen.until("PAUSED");
    await credit("bob", "1");
    await sleep(600);
    expect(screen.frame.join("\n")).toMatch(/^ {2}bob +USD +0\.25 /m);
    screen.press("p");
    await screen.until(/^ {2}bob +USD +0\.26 /m);
    screen.resize(60, 10);
    await screen.until(/WALLET +ASSET +BALANCE +AVAILABLE +HELD +\/s$/m);
    expect(screen.frame).toHaveLength(9);
    screen.resize(140, 30);
    await screen.until("STREAM");
    screen.press("q");
    await expectEnd(screen, 0);
    expect(afterScreen(screen.output).trim()).toBe("");
  });

  test("shows what came while its streams were being made, and leaves in order on SIGTERM", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `early-${index}`);
    // The end of a long log takes a stream a while to find.
    for (const callerKey of names) {
      const writes = Array.from({ length: 500 }, () => ({
        callerKey,
        type: "credit" as const,
        amount: "1",
        assetCode: "USD",
      }));
      await server.client.writeWallets(server.ledgerId, writes);
    }
    const screen = tail(...names);
    await screen.until("8 wallets");
    await Promise.all(names.map((name) => credit(name, "9")));
    for (const name of names) await screen.until(new RegExp(`^. ${name} +USD +5\\.09 `, "m"));
    screen.signal("SIGTERM");
    await expectEnd(screen, 130);
  });

  test("--since begins with the figures of that seq, and replays what came after it; leaves in order on SIGINT", async () => {
    for (const amount of ["10", "20", "30"]) await credit("replayed", amount);
    const screen = tail("replayed", "--since", "1");
    await screen.until(/^› replayed +USD +0\.60 +0\.60 +0\.00 +\+0\.30 /m);
    screen.press("d");
    await screen.until(/seq 3 {2}balance \+0\.30\n.*seq 2 {2}balance \+0\.20$/m);
    expect(screen.frame.join("\n")).not.toContain("seq 1 ");
    screen.signal("SIGINT");
    await expectEnd(screen, 130);
  });

  test("leaves in order when its key is revoked, and says why on the screen before", async () => {
    const made = await runCli(["key", "create", "--org", server.organizationId, "--json"], server);
    const key = JSON.parse(made.stdout) as { apiKey: string; apiSecret: string };
    const env = {
      ...server.env,
      LEDGERCTL_API_KEY: key.apiKey,
      LEDGERCTL_API_SECRET: key.apiSecret,
    };
    const screen = new TestScreen(["wallet", "tail", "alice"], env);
    await screen.until(/1 wallet .*s {2}connected/);
    await runCli(["key", "revoke", key.apiKey], server);
    await expectEnd(screen, 4);
    expect(afterScreen(screen.output)).toMatch(
      /^\u001b\[31mledgerctl:\u001b\[39m .*\(401, request /s,
    );
  });

  test("is not begun where something is wrong from the start", async () => {
    const screen = tail("alice", "--ledger", "01a1f929-c7b6-727f-ac61-35579962ed4c");
    expect(await screen.ended()).toEqual({ code: 5, isCooked: true });
    expect(screen.output).not.toContain("\u001b[?1049h");
    expect(screen.printed).toMatch(/^\u001b\[31mledgerctl:\u001b\[39m /);
  });

  test("draws where CI is set, leaves in order on Ctrl-C, and prints lines on a terminal that is dumb or for --json", async () => {
    const inCi = new TestScreen(["wallet", "tail", "alice"], { ...server.env, CI: "true" });
    await inCi.until("1 wallet");
    inCi.press("\u0003");
    await expectEnd(inCi, 130);
    const dumb = new TestScreen(["wallet", "tail", "dumb"], { ...server.env, TERM: "dumb" });
    const json = tail("dumb", "--json");
    await expect
      .poll(
        async () => {
          await credit("dumb", "1");
          return /^\{"key":"dumb".*\}\r$/m.test(json.output) && / dumb +/.test(dumb.output);
        },
        { interval: 200 },
      )
      .toBe(true);
    for (const screen of [dumb, json]) {
      screen.signal("SIGINT");
      expect((await screen.ended()).code).toBe(130);
      expect(screen.output).not.toContain("\u001b[");
    }
  });
});

describe.runIf(hasPython)("entry tail on a terminal", () => {
  /** Of its own: no posting of other tests' wallets comes between its entries. */
  let ledgerId: string;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    ledgerId = await server.books.createLedger();
    env = { ...server.env, LEDGERCTL_LEDGER: ledgerId };
  });

  const post = (description: string) =>
    server.client.postEntry(ledgerId, {
      description,
      lines: [
        { glAccountCode: "1000", functionalAmount: "12500" },
        { glAccountCode: "4000", functionalAmount: "-12500" },
      ],
    });

  test("shows entries live, the lines of one, and ends with q", async () => {
    const screen = new TestScreen(["entry", "tail"], env);
    await screen.until(/^entry tail .* connected$/m);
    await post("Fìrst sale");
    await screen.until(/^› Fìrst sale .* 125\.00 USD/m);
    await post("Second sale");
    await screen.until(/^› Second sale .* 125\.00 USD/m);
    screen.press("j");
    await screen.until(/^› Fìrst sale /m);
    screen.press("d");
    await screen.until(/^ *-125\.00 USD {2}4000/m);
    screen.press("q");
    await expectEnd(screen, 0);
  });

  test("into a pipe prints a line for each, from where it is told to", async () => {
    const { journalId } = await post("Piped");
    const { total } = await server.client.listEntries(ledgerId, { limit: 1 });
    const args = ["entry", "tail", "--since", String(total - 1)];
    for (const [flags, line] of [
      [[], /^ +\d+ {2}\S+Z +125\.00 USD {2}[0-9a-f-]{36} {2}Piped$/],
      [["--quiet"], new RegExp(`^${journalId}$`)],
      [["--json"], new RegExp(`"journalId":"${journalId}"`)],
    ] as const) {
      const { child, result } = startCli([...args, ...flags], { env });
      child.stdout?.once("data", () => child.kill("SIGINT"));
      const { code, stdout } = await result;
      expect([code, stdout.trimEnd()]).toEqual([130, expect.stringMatching(line)]);
    }
  });

  test("ends where the ledger is not there", async () => {
    const args = ["entry", "tail", "--ledger", "01a1f929-c7b6-727f-ac61-35579962ed4c"];
    expect((await runCli(args, { env: server.env })).code).toBe(5);
  });
});

test.runIf(hasPython)("top and wallet tail go on where their server comes back", async () => {
  const steady = tail("steady");
  await steady.until(/1 wallet .*s {2}connected/);
  const top = new TestScreen(["top"], server.env, [110, 26]);
  await top.until(/^database {2}up, /m);
  await credit("watched", "1");
  await top.until(/^writes {4}.*credit \d+\.\d/m);
  await top.until("wallets and postings agree");
  await server.restart(async () => {
    await steady.until("1 lost, reconnecting");
    await top.until(/^top {2}no answer: /);
  });
  await credit("steady", "77");
  await steady.until(/^› steady +USD +0\.77 .*connected$/m);
  steady.signal("SIGHUP");
  await expectEnd(steady, 130);
  await top.until(/^top {2}http/);
  top.press("p");
  await top.until("PAUSED");
  top.press("q");
  await expectEnd(top, 0);
});

describe("top without a terminal", () => {
  test("prints the figures of one interval", async () => {
    const { code, stdout, stderr } = await runCli(["top"], server);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^LANE +BATCHES\/s/);
    expect(stdout).toMatch(/^database {2}up, /m);
    expect(stdout).not.toContain("\u001b");
  });

  test("--json is one document", async () => {
    const { code, stdout } = await runCli(["top", "--json"], server);
    expect(code).toBe(0);
    const figures = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(figures)).toEqual([
      "version",
      "upSeconds",
      "intervalSeconds",
      "writes",
      "lanes",
      "posting",
      "streams",
      "http",
      "database",
      "process",
    ]);
    expect(figures["database"]).toMatchObject({ isUp: true });
  });

  test("a server that is not there ends with 7, one without metrics with 5, a wrong flag with 2", async () => {
    const gone = await runCli(["top", "--url", "http://127.0.0.1:9"], server);
    expect(gone).toMatchObject({ code: 7, stdout: "" });
    expect(gone.stderr).toMatch(/^ledgerctl: no answer from http:\/\/127\.0\.0\.1:9\/metrics: /);
    const elsewhere = await runCli(["top", "--metrics-url", `${server.url}/elsewhere`], server);
    expect(elsewhere.code).toBe(5);
    expect(elsewhere.stderr).toContain("--metrics-url");
    const other = await runCli(["top", "--metrics-url", `${server.url}/healthz`], server);
    expect(other.code).toBe(1);
    expect((await runCli(["top", "--interval", "soon"], server)).code).toBe(2);
  });
});

test("ink and React are in parts of the bundle that only screens load", () => {
  const folder = new URL("../../dist/cli/", import.meta.url);
  const source = (name: string) => readFileSync(new URL(name, folder), "utf8");
  const hasInk = (name: string) => /node_modules\/(ink|react|yoga-layout)\//.test(source(name));
  const heavy = readdirSync(folder).filter(hasInk);
  expect(heavy.length).toBeGreaterThan(0);
  const loaded = new Set<string>();
  const load = (name: string): void => {
    if (loaded.has(name)) return;
    loaded.add(name);
    for (const [, next = ""] of source(name).matchAll(
      /^import .*?"\.\/([^"]+)";$|^} from "\.\/([^"]+)";$/gm,
    )) {
      if (next !== "") load(next);
    }
    for (const [, next = ""] of source(name).matchAll(/^} from "\.\/([^"]+)";$/gm)) load(next);
  };
  for (const name of readdirSync(folder)) {
    if (/^(main|run|tail|command)/.test(name) && !/screen/.test(name)) load(name);
  }
  expect([...loaded].filter(hasInk)).toEqual([]);
});
