// The built program with a policy file: its workers bring checkpoints to a witness.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatOrigin, logSigner } from "../../src/core/log-origin.ts";
import { formatVerifierKey } from "../../src/core/note.ts";
import { parseTlogPolicy } from "../../src/core/tlog-policy.ts";
import { verifyCheckpoint } from "../../src/verify/checkpoint.ts";
import { runCli } from "../support/cli.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../support/database.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { startWitness, type TestWitness } from "../support/witness.ts";

const logKey = randomBytes(32);
const entry = ["--line", "1000:+5", "--line", "4000:-5"];

let home: string;
let database: TestDatabase;
let witness: TestWitness;
let server: ServerProcess;
let env: Record<string, string>;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "ledgerctl-witnesses-"));
  database = await createTestDatabase();
  witness = await startWitness("w1");
  const policyFile = join(home, "policy");
  writeFileSync(policyFile, `${witness.policyLine}\nquorum w1\n`);
  env = {
    HOME: home,
    LEDGERCTL_CONFIG: join(home, "config.json"),
    LEDGERCTL_DATABASE_URL: database.url,
    LEDGERCTL_MASTER_KEY: randomBytes(32).toString("base64"),
    LEDGERCTL_LOG_KEY: logKey.toString("base64"),
    LEDGERCTL_LOG_NAME: "ledger.example.com",
    LEDGERCTL_LOG_POLICY: policyFile,
    LEDGERCTL_CHECKPOINT_INTERVAL_MS: "50",
  };
  server = await startServerProcess({
    args: ["--port", "0", "--workers", "2", "--bootstrap"],
    env,
  });
});

afterAll(async () => {
  await server.end("SIGKILL");
  await witness.close();
  await database.drop();
  rmSync(home, { recursive: true });
});

test("what a worker signs is cosigned, and the file may be broken meanwhile", async () => {
  const { ledgerId = "" } = server.made;
  const origin = formatOrigin("ledger.example.com", { ledgerId, log: "journal", generation: 1 });
  const { verifierKey } = logSigner(logKey, origin);
  witness.trust(verifierKey);
  writeFileSync(env["LEDGERCTL_LOG_POLICY"] ?? "", "broken");
  expect(await runCli(["entry", "post", ...entry], { env })).toMatchObject({ code: 0 });
  const target = `/v1/ledgers/${ledgerId}/logs/journal/checkpoint?cosigned=true`;
  const note = await until("a cosigned checkpoint", async () => {
    const { code, stdout } = await runCli(["request", "GET", target], { env });
    return code === 0 && `${stdout.trimEnd()}\n`;
  });
  const policy = `log ${formatVerifierKey(verifierKey)}\n${witness.policyLine}\nquorum w1\n`;
  const { size, signers } = verifyCheckpoint(note, parseTlogPolicy(Buffer.from(policy)));
  expect(size).toBe(1);
  expect(signers.map(({ name }) => name)).toEqual([origin, "w1"]);
});

test("a halted log is resumed only where the witness agrees, or is out of the policy", async () => {
  const { ledgerId = "" } = server.made;
  const halt = () =>
    runStatement(
      database.url,
      "UPDATE log_states SET halted_at = now(), halt_reason = 'for a test' WHERE ledger_id = $1",
      [ledgerId],
    );
  const { LEDGERCTL_LOG_POLICY: file = "", ...withoutPolicy } = env;
  const resume = (variables: Record<string, string>) =>
    runCli(["log", "resume", "journal", "--ledger", ledgerId, "--yes"], { env: variables });
  writeFileSync(file, "broken");
  expect(await resume(env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`${file}: line 1`) as unknown,
  });
  writeFileSync(file, `${witness.policyLine}\nquorum w1\n`);
  await halt();
  await witness.goAway();
  const away = await resume(env);
  expect(away.code).toBe(6);
  expect(away.stderr).toContain("the witness w1 can't be asked: connect ECONNREFUSED");
  await witness.comeBack();
  witness.mode = "conflict with a larger size";
  const ahead = await resume(env);
  expect(ahead.code).toBe(6);
  expect(ahead.stderr).toContain(
    "the witness w1 has seen size 1000000, and the newest checkpoint in the database has size 1",
  );
  witness.mode = "honest";
  expect(await resume(env)).toMatchObject({ code: 0, stdout: "1 log resumed\n", stderr: "" });
  await halt();
  await witness.goAway();
  const unasked = await resume(withoutPolicy);
  expect(unasked.code).toBe(0);
  expect(unasked.stderr).toContain("No witness is asked");
  await witness.comeBack();
});

test("a server stops while a witness hangs", async () => {
  witness.mode = "hanging";
  const { count } = witness.requests;
  expect(await runCli(["entry", "post", ...entry], { env })).toMatchObject({ code: 0 });
  await until("a request", () => witness.requests.count > count);
  expect(await server.end("SIGTERM")).toBe(0);
});
