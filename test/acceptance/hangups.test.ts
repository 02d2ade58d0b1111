// SIGHUP to the built server without TLS: a closed terminal ends it, a supervisor's reload does not.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { programCommand, startServerProcess } from "../support/server-process.ts";
import { spawnOnTerminal } from "../support/terminal.ts";

let home: string;
let database: TestDatabase;
let env: Record<string, string>;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "ledgerctl-hangup-"));
  database = await createTestDatabase();
  env = {
    HOME: home,
    LEDGERCTL_DATABASE_URL: database.url,
    LEDGERCTL_MASTER_KEY: randomBytes(32).toString("base64"),
  };
});

afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true });
});

test("goes on after a reload, and says that there is no certificate", async () => {
  const server = await startServerProcess({ args: ["--port", "0"], env });
  server.child.kill("SIGHUP");
  await expect.poll(() => server.stderr()).toContain("no certificate to read again");
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(await server.end("SIGTERM")).toBe(0);
});

test("ends with its terminal", async () => {
  const command = [...programCommand, "serve", "--json", "--port", "0"];
  const bridge = spawnOnTerminal(command, { env: { PATH: process.env["PATH"] ?? "", ...env } });
  let shown = "";
  bridge.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
  const url = () => /"event":"ready","url":"([^"]+)"/.exec(shown)?.[1];
  await expect.poll(url).toBeDefined();
  bridge.kill("SIGKILL");
  const isServed = () => fetch(`${url() ?? ""}/healthz`).then(Boolean, () => false);
  await expect.poll(isServed).toBe(false);
});
