// The screen for the books on a real terminal: what it shows of a real server, its keys, sizes, and how it ends.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli } from "../support/cli.ts";
import { hasPython } from "../support/python.ts";
import { until } from "../support/until.ts";
import { afterScreen, isLeftClean, TestScreen } from "../support/screen.ts";

let server: BinaryServer;

beforeAll(async () => {
  server = await startBinaryServer();
  await post("opening", "100000", "2026-01-02T00:00:00Z");
  await post("an invoice", "12500", "2026-03-15T00:00:00Z");
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

function post(description: string, amount: string, transactionDate: string): Promise<unknown> {
  return server.client.postEntry(server.ledgerId, {
    description,
    transactionDate,
    lines: [
      { glAccountCode: "1000", functionalAmount: amount },
      { glAccountCode: "4000", functionalAmount: `-${amount}` },
    ],
  });
}

async function expectEnd(screen: TestScreen, code: number): Promise<void> {
  expect(await screen.ended()).toEqual({ code, isCooked: true });
  expect(isLeftClean(screen.output)).toBe(true);
}

// Python makes the terminal.
describe.runIf(hasPython)("ui on a terminal", () => {
  test.each([
    [80, 24],
    [120, 40],
    [40, 10],
  ])(
    "of %i columns and %i rows leads from accounts to a register, an entry and back",
    async (columns, rows) => {
      const screen = new TestScreen(["ui"], server.env, [columns, rows]);
      await screen.until(/^› ▾ Assets +[0-9,]+\.[0-9]{2}$/m);
      expect(screen.frame.length).toBeLessThan(rows);
      screen.press("j\r");
      await screen.until(/^1000 Cash/);
      await screen.until(/^› 20/m);
      screen.press("G");
      await screen.until(/^› 2026-01-02 +opening/m);
      screen.press("l");
      await screen.until(/^ {2}date +2026-01-02$/m);
      screen.press("hh");
      await screen.until(/^accounts/);
      screen.press("q");
      await expectEnd(screen, 0);
      expect(afterScreen(screen.output).trim()).toBe("");
    },
  );

  test("shows entries and closes as they come, finds them, and follows the size of the terminal", async () => {
    const screen = new TestScreen(["ui"], server.env, [110, 24]);
    await screen.until(/^accounts/);
    screen.press("2");
    await screen.until(/2026-03-15 +an invoice +1000, 4000 +125\.00$/m);
    await post("while it is seen", "700", "2026-04-01T00:00:00Z");
    await screen.until(/^› +3 {2}2026-04-01 +while it is seen/m);
    screen.press("/invoice\r");
    await screen.until("1 of 1 ");
    screen.press("\u001b");
    await screen.until("1 of 3 ");
    screen.press("3");
    await screen.until(/2026-01 +open +1/);
    const { closeHash } = await server.client.closePeriod(server.ledgerId, { periodId: "2026-01" });
    await screen.until(closeHash.slice(0, 15));
    screen.press("G\r");
    await screen.until(closeHash);
    screen.resize(40, 10);
    await screen.until(/^2026-01/);
    await expect.poll(() => Math.max(...screen.frame.map(({ length }) => length))).toBeLessThan(41);
    screen.signal("SIGTERM");
    await expectEnd(screen, 130);
  });

  test("follows the journal's stream, and does not ask for what it tells", async () => {
    const screen = new TestScreen(["ui"], server.env, [110, 24]);
    await screen.until(/^accounts/);
    const streams = async () => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      return /^ledgerctl_streams (\d+)$/m.exec(metrics)?.[1];
    };
    await until("the stream", async () => (await streams()) === "1");
    await post("by the stream", "1", "2026-06-01T00:00:00Z");
    screen.press("2");
    await screen.until("by the stream");
    screen.press("q");
    await expectEnd(screen, 0);
    await until("the end of the stream", async () => (await streams()) === "0");
  });

  test("says that its server is away, goes on where it is back, and ends on Ctrl-C", async () => {
    const screen = new TestScreen(["ui"], server.env, [110, 24]);
    await screen.until(/^› ▾ Assets/m);
    await server.restart(async () => {
      await screen.until("no answer, trying again");
    });
    await screen.until(/^accounts {2}1 of/);
    await post("after the pause", "5", "2026-05-01T00:00:00Z");
    screen.press("2");
    await screen.until("after the pause");
    screen.press("\u0003");
    await expectEnd(screen, 130);
  });

  test("ends with 4 when its key is revoked, and says why on the screen before", async () => {
    const made = await runCli(["key", "create", "--org", server.organizationId, "--json"], server);
    const key = JSON.parse(made.stdout) as { apiKey: string; apiSecret: string };
    const env = {
      ...server.env,
      LEDGERCTL_API_KEY: key.apiKey,
      LEDGERCTL_API_SECRET: key.apiSecret,
    };
    const screen = new TestScreen(["ui"], env);
    await screen.until(/^› ▾ Assets/m);
    await runCli(["key", "revoke", key.apiKey], server);
    await expectEnd(screen, 4);
    expect(afterScreen(screen.output)).toMatch(
      /^\u001b\[31mledgerctl:\u001b\[39m .*\(401, request /s,
    );
  });

  test("has no colours with NO_COLOR", async () => {
    const screen = new TestScreen(["ui"], { ...server.env, NO_COLOR: "1" });
    await screen.until(/^› ▾ Assets/m);
    screen.press("q");
    await expectEnd(screen, 0);
    expect(screen.output).not.toMatch(/\u001b\[[0-9;]*m/);
  });
});

test("without a terminal it ends with 2 and says so", async () => {
  for (const args of [["ui"], ["ui", "--json"]]) {
    const { code, stdout, stderr } = await runCli(args, server);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("ui needs a terminal");
  }
});
