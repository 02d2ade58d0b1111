// `serve --tls-cert --tls-key`: the built program over TLS, renewed while it runs, and the commands that ask it.
import { randomBytes } from "node:crypto";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { Agent } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authority, certificateFile, openTls } from "../support/certificates.ts";
import { documents, runCli, startCli } from "../support/cli.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { sampleOf } from "../support/metrics.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { sendRequest } from "../support/signed-request.ts";

let home: string;
let database: TestDatabase;
let server: ServerProcess;
/** Of commands; without the authority. */
let env: Record<string, string>;
let trusting: Record<string, string>;

const inHome = (name: string) => join(home, name);
const install = (cert: string, key: string) => {
  copyFileSync(certificateFile(cert), inHome("cert.pem"));
  copyFileSync(certificateFile(key), inHome("key.pem"));
};

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "ledgerctl-tls-"));
  database = await createTestDatabase();
  install("chain.pem", "chain-key.pem");
  env = { HOME: home, LEDGERCTL_CONFIG: inHome("config.json") };
  trusting = { ...env, NODE_EXTRA_CA_CERTS: certificateFile("authority.pem") };
  const args = ["--port", "0", "--workers", "2", "--bootstrap", "--rate-limit", "1000/s"];
  server = await startServerProcess({
    args: [...args, "--tls-cert", inHome("cert.pem"), "--tls-key", inHome("key.pem")],
    env: {
      ...env,
      LEDGERCTL_DATABASE_URL: database.url,
      LEDGERCTL_MASTER_KEY: randomBytes(32).toString("base64"),
    },
  });
});

afterAll(async () => {
  expect(await server.end("SIGTERM")).toBe(0);
  await database.drop();
  rmSync(home, { recursive: true });
});

const port = () => Number(new URL(server.url).port);

/** Whose certificate workers show to new connections; several, so that each worker is asked. */
async function shownNames(): Promise<string[]> {
  const names = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const { socket } = await openTls(port(), { checkServerIdentity: () => undefined });
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return subject.CN;
    }),
  );
  return [...new Set(names)].map(String);
}

test("is ready under https, and so is the profile that it saved", () => {
  expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const { profiles } = JSON.parse(readFileSync(inHome("config.json"), "utf8")) as {
    profiles: { local: { url: string } };
  };
  expect(profiles.local.url).toBe(server.url);
});

test("answers commands that know its authority", async () => {
  const listed = await runCli(["ledger", "list", "--json"], { env: trusting });
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  expect(documents(listed.stdout)).toHaveLength(1);
  const credit = ["wallet", "credit", "alice", "100", "--asset", "USD"];
  expect((await runCli(credit, { env: trusting })).code).toBe(0);
  const tail = startCli(["wallet", "tail", "alice", "--since", "0"], { env: trusting });
  const [line] = (await once(tail.child.stdout ?? tail.child, "data")) as [string];
  expect(line).toContain("1.00 USD");
  tail.child.kill("SIGINT");
  expect((await tail.result).code).toBe(130);
});

test("is measured over TLS", async () => {
  const load = ["bench", "wallets", "--duration", "1s", "--connections", "2", "--wallets", "2"];
  const { code, stdout } = await runCli([...load, "--rate", "50", "--json"], { env: trusting });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ acknowledged: 50, verification: { ok: true } });
});

test.each([
  ["a command", ["ledger", "list"]],
  ["a stream", ["wallet", "tail", "alice", "--since", "0"]],
  ["the metrics", ["top", "--once"]],
])("tells %s that does not know its authority what to do", async (_name, args) => {
  const { code, stderr } = await runCli(args, { env });
  expect(code).toBe(7);
  expect(stderr).toContain("no answer from");
  expect(stderr).toContain("NODE_EXTRA_CA_CERTS");
});

test("tells who asks without TLS, and who expects it where there is none", async () => {
  const plainUrl = server.url.replace("https:", "http:");
  const plain = await runCli(["ledger", "list", "--url", plainUrl], { env: trusting });
  expect(plain.code).toBe(2);
  expect(plain.stderr).toContain("begin the URL with https://");
  const doctor = await runCli(["doctor"], { env });
  expect(doctor.code).toBe(7);
  expect(doctor.stdout).toContain("NODE_EXTRA_CA_CERTS");
});

test("tells in its metrics when the certificate expires", async () => {
  const agent = new Agent({ ca: authority });
  const { text } = await sendRequest(port(), agent, { target: "/metrics", credentials: null });
  const expiry = sampleOf(text, "ledgerctl_tls_certificate_expiry_timestamp_seconds");
  expect(new Date((expiry ?? 0) * 1_000).getUTCFullYear()).toBe(2126);
});

test("reads its certificate again on SIGHUP, keeps one that can be used, and goes on", async () => {
  const open = await openTls(port());
  writeFileSync(inHome("key.pem"), "nothing");
  server.child.kill("SIGHUP");
  await expect.poll(() => server.stderr()).toContain("has no private key in PEM");
  // A pipe that nobody writes to must not hold up the next reading.
  execFileSync("mkfifo", [inHome("pipe")]);
  renameSync(inHome("pipe"), inHome("key.pem"));
  server.child.kill("SIGHUP");
  await expect.poll(() => server.stderr()).toContain("not a regular file");
  rmSync(inHome("key.pem"));
  expect(await shownNames()).toEqual(["localhost"]);
  install("other.pem", "other-key.pem");
  server.child.kill("SIGHUP");
  await expect.poll(shownNames).toEqual(["ledger.example.com"]);
  const wrongName = await runCli(["ledger", "list"], { env: trusting });
  expect(wrongName.code).toBe(7);
  expect(wrongName.stderr).toContain("--url with a name that the server's certificate is for");
  install("chain.pem", "chain-key.pem");
  server.child.kill("SIGHUP");
  await expect.poll(shownNames).toEqual(["localhost"]);
  open.socket.end("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(open.socket, "close");
  expect(open.answers()[0]).toMatch(/^HTTP\/1\.1 200 /);
});

test("does not begin with files that it can't use", async () => {
  const cert = ["--tls-cert", certificateFile("chain.pem")];
  const start = (...args: string[]) => runCli(["serve", ...args], { env });
  expect(await start(...cert)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no --tls-key") as string,
  });
  expect(await start(...cert, "--tls-key", certificateFile("other-key.pem"))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("does not belong to --tls-cert") as string,
  });
  expect(await start(...cert, "--tls-key", "/nope")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--tls-key /nope can't be read: there is no such") as string,
  });
});
