// What takes longer than a second says so on a terminal, and nowhere else.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startCli } from "../support/cli.ts";
import { programCommand } from "../support/server-process.ts";
import { spawnOnTerminal } from "../support/terminal.ts";

const balance = '{"glAccountCode":"1000","balance":125,"currency":"USD","entryCount":1}';
let env: Record<string, string>;
/** The answers that are held back. */
const waiting: ServerResponse[] = [];

let isPiped = false;

/** A service that takes its time. */
const service = createServer((_, response) => {
  response.setHeader("content-type", "application/json");
  waiting.push(response);
  // By then a terminal would have been told.
  if (isPiped) setTimeout(answer, 3_000);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  env = {
    PATH: process.env["PATH"] ?? "",
    HOME: "/nonexistent",
    TERM: "xterm",
    LEDGERCTL_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    LEDGERCTL_API_KEY: "lk_x",
    LEDGERCTL_API_SECRET: "ls_x",
    LEDGERCTL_LEDGER: "01a1f929-c7b6-727f-ac61-35579962ed4c",
  };
});

afterAll(() => service.close());

const answer = () => waiting.shift()?.end(balance);

it("tells on a terminal that the service is at work, and takes that away with the answer", async () => {
  const child = spawnOnTerminal([...programCommand, "balance", "1000"], { env });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (/the service is at work, 0:0[2-9]/.test(shown)) answer();
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(code).toBe(0);
  const [, result = ""] = shown.split(/\r +\r/);
  expect(result.replaceAll("\r\n", "\n")).toMatch(/ACCOUNT.*\n1000 +1\.25 USD +1\n$/);
});

it("says nothing into pipes", async () => {
  isPiped = true;
  const { result } = startCli(["balance", "1000", "--json"], { env });
  expect(await result).toEqual({ code: 0, stdout: `${balance}\n`, stderr: "" });
});

it("ends with 130 on Ctrl-C while it waits", async () => {
  isPiped = false;
  const asked = once(service, "request");
  const { child, result } = startCli(["balance", "1000"], { env });
  await asked;
  child.kill("SIGINT");
  const { code, stdout, stderr } = await result;
  expect([code, stdout]).toEqual([130, ""]);
  // A command that has not tidied up within a second ends without a word.
  expect(stderr).toMatch(/^(ledgerctl: interrupted\n)?$/);
  waiting.length = 0;
});
