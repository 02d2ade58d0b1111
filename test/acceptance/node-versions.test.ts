// A short round through the built program under one version of Node: what is bundled here has to run under all that
// README.md names. Continuous integration runs this file with LEDGERCTL_TEST_NODE set to each of them in turn, and with the
// single executable, which brings its own.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../src/engine/new-id.ts";
import { runCli, startCli } from "../support/cli.ts";
import {
  executable,
  nodePath,
  startServerProcess,
  type ServerProcess,
} from "../support/server-process.ts";
import { until } from "../support/until.ts";

const buildScript = new URL("../../scripts/executable/build.js", import.meta.url);
const version =
  executable === undefined
    ? execFileSync(nodePath, ["--version"]).toString().trim()
    : `v${/^const nodeVersion = "(.+)";$/m.exec(readFileSync(buildScript, "utf8"))?.[1] ?? ""}`;
/** Warnings of a database that is slow for a moment, which says nothing of Node. */
const slowDatabase =
  /^\{"level":"warn",.*"msg":"(not ready|ready again|.* fails; it is tried again|.* succeeds again)"\}$/;
const home = mkdtempSync(join(tmpdir(), "ledgerctl-node-"));
const dataDir = join(home, "books");
let server: ServerProcess;

/** Runs a command that has to succeed, and to write nothing to stderr: neither a failure nor a warning of Node's. */
async function run(...args: string[]): Promise<string> {
  const ended = await runCli(args, { env: { HOME: home } });
  expect(ended, args.join(" ")).toMatchObject({ code: 0, stderr: "" });
  return ended.stdout;
}

beforeAll(async () => {
  // As root, PostgreSQL runs as another user, who has to reach the folder.
  chmodSync(home, 0o755);
  server = await startServerProcess({
    args: ["--bootstrap", "--port", "0", "--workers", "2", "--data-dir", dataDir],
    env: { HOME: home, XDG_CONFIG_HOME: join(home, ".config") },
  });
  await run("config", "set", "url", server.url, "--profile", "local");
});

afterAll(async () => {
  await server.end("SIGTERM");
  rmSync(home, { recursive: true });
});

test(`serves with an embedded database under Node ${version}`, async () => {
  const metrics = await (await fetch(new URL("/metrics", server.url))).text();
  expect(metrics).toContain(`nodejs_version_info{version="${version}"`);
});

test("records an entry", async () => {
  const lines = ["--line", "1000:+12500", "--line", "4000:-12500"];
  await run("entry", "post", ...lines, "--date", "2026-03-01", "--quiet");
  expect(await run("balance", "1000")).toMatch(/^1000 +125\.00 USD +1$/m);
});

test("answers requests that offer an upgrade and have a body, and those behind them", async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = "";
  socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
  const statuses = () => received.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
  const post = `POST /v1/ledgers/${newId()}/journal-entries HTTP/1.1\r\nHost: localhost\r\n`;
  const offer = "Connection: Upgrade\r\nUpgrade: h2c\r\n";
  const requests = [
    `${post}${offer}Content-Length: 2\r\n\r\n{}`,
    `${post}${offer}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n`,
    "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
  ];
  for (const [index, request] of requests.entries()) {
    socket.write(request);
    await until("an answer", () => statuses().length > index);
  }
  socket.destroy();
  expect(statuses()).toEqual(["401", "401", "200"]);
});

test("streams what is written to a wallet", async () => {
  const { child, result } = startCli(["wallet", "tail", "customer", "--since", "0", "--json"], {
    env: { HOME: home },
  });
  if (child.stdout === null) throw new Error("stdout is a pipe");
  const line = once(createInterface({ input: child.stdout }), "line") as Promise<[string]>;
  await run("wallet", "credit", "customer", "700", "--asset", "USD", "--quiet");
  expect(JSON.parse((await line)[0])).toMatchObject({ balance: "700", seq: 1 });
  child.kill("SIGINT");
  expect(await result).toMatchObject({ code: 130, stderr: "" });
});

test("closes a period, whose bundle is verified offline", async () => {
  const close = JSON.parse(await run("period", "close", "2026-03", "--yes", "--json")) as {
    closeHash: string;
  };
  const bundle = join(home, "2026-03.ndjson");
  const written = await runCli(["bundle", "2026-03", "--out", bundle], { env: { HOME: home } });
  expect(written).toMatchObject({ code: 0, stdout: "" });
  const verified = await run("merkle", "verify", "--bundle", bundle, "--expect", close.closeHash);
  expect(verified).toContain("verified");
});

test("backs up, and restores into another database", async () => {
  const file = join(home, "books.backup");
  const copy = join(home, "copy");
  const backup = await run("backup", file, "--with-secrets", "--json", "--data-dir", dataDir);
  const { tables } = JSON.parse(backup) as { tables: object[] };
  // Node has zstd since 22.15.
  const compression = version.startsWith("v20.") ? "1f8b0800" : "28b52ffd";
  expect(readFileSync(file).toString("hex", 0, 4)).toBe(compression);
  const restored = await runCli(["restore", file, "--json", "--data-dir", copy], {
    env: { HOME: home },
  });
  expect(restored).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^\{"note":"Its logs are halted, [^\n]+\}\n$/) as string,
  });
  expect(JSON.parse(restored.stdout)).toMatchObject({ tables, audit: { ok: true } });
});

test("stops with exit code 0, its database too, and has warned of nothing", async () => {
  expect(await server.end("SIGTERM")).toBe(0);
  expect(existsSync(join(dataDir, "postgres", "PG_VERSION"))).toBe(true);
  expect(existsSync(join(dataDir, "postgres", "postmaster.pid"))).toBe(false);
  const lines = server.stderr().split("\n");
  expect(lines.filter((line) => line !== "" && !slowDatabase.test(line))).toEqual([]);
});
