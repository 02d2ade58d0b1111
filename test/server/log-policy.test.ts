// The policy file of a server: what is wrong with it is told by file and line, before anything is started.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { formatVerifierKey, NoteSigner, signatureTypes } from "../../src/core/note.ts";
import { loadLogPolicy, submissionWitnesses } from "../../src/server/log-policy.ts";
import { runCli } from "../support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-policies-"));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function fileWith(text: string): string {
  const file = join(folder, `${Math.random()}.policy`);
  writeFileSync(file, text);
  return file;
}

function keyOf(name: string): string {
  const seed = Buffer.from(name.padEnd(32, "."));
  return formatVerifierKey(new NoteSigner(name, seed, signatureTypes.cosignature).verifierKey);
}

const [key1, key2] = [keyOf("w1.example.com"), keyOf("w2.example.com")];

test("checkpoints are submitted to witnesses that have a URL", async () => {
  const url = "https://w1.example.com/prefix";
  const file = fileWith(`witness w1 ${key1} ${url}\nwitness w2 ${key2}\nquorum w2\n`);
  const { policy, octets } = await loadLogPolicy(file);
  expect(policy.witnesses).toHaveLength(2);
  expect(submissionWitnesses(policy)).toMatchObject([{ name: "w1", url }]);
  expect(octets.toString()).toContain("quorum w2");
});

test.each([
  ["an empty file", "", "the policy has no line quorum"],
  ["a key that is none", "# witnesses\nwitness w1 key\nquorum w1\n", "line 2: "],
  ["a quorum of nobody known", `witness w1 ${key1}\n\nquorum w2\n`, 'line 3: "w2" is not defined'],
  ["a witness twice", `witness w1 ${key1}\nwitness w2 ${key1}\nquorum w1\n`, "line 2: "],
  ["a NUL", `witness w1 ${key1}\0\nquorum w1\n`, "line 1: has a control character"],
  ["no URL", `witness w1 ${key1} w1.example.com\nquorum w1\n`, "witness w1: the URL must be an"],
  ["a password", `witness w1 ${key1} https://a:b@w1\nquorum w1\n`, "the URL must have no user"],
])("%s is refused", async (_name, text, message) => {
  const file = fileWith(text);
  await expect(loadLogPolicy(file)).rejects.toThrow(`LEDGERCTL_LOG_POLICY ${file}: `);
  await expect(loadLogPolicy(file)).rejects.toThrow(message);
});

test("a file that is not there, and a folder, are refused", async () => {
  await expect(loadLogPolicy("/none/policy")).rejects.toThrow("there is no such file");
  await expect(loadLogPolicy(folder)).rejects.toThrow("it is a folder");
});

test("a server with a bad policy does not start, and makes nothing", async () => {
  const file = fileWith("witness w1\nquorum w1\n");
  const result = await runCli(["serve", "--port", "0", "--data-dir", join(folder, "data")], {
    env: { HOME: folder, LEDGERCTL_LOG_POLICY: file },
  });
  expect(result).toMatchObject({ code: 2, stdout: "" });
  expect(result.stderr).toContain(`LEDGERCTL_LOG_POLICY ${file}: line 1: witness takes`);
});
