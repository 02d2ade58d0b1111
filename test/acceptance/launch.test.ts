// How the program is started: a shell reads its first lines and hands it to Node.
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { binaryPath } from "../support/server-process.ts";

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ledgerctl launch "));
  await symlink(binaryPath, join(folder, "ledgerctl"));
});

afterAll(() => rm(folder, { recursive: true }));

test("starts by its name, through a link in a folder with a space, with arguments as they are", async () => {
  const env = { ...process.env, PATH: [folder, process.env["PATH"]].join(delimiter) };
  const { stdout } = await run("ledgerctl", ["--version"], { env });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const odd = 'a "b" $HOME *';
  await expect(run("ledgerctl", [odd], { env })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining(odd) as string,
  });
});

test("starts with a larger young generation, unless NODE_OPTIONS sets another", async () => {
  const hook = join(folder, "hook.cjs");
  const print = "process.on('exit', () => process.stdout.write(process.env.NODE_OPTIONS));";
  await writeFile(hook, print);
  const optionsWith = async (more: string) => {
    const env = { ...process.env, NODE_OPTIONS: `--require "${hook}" ${more}` };
    return (await run(binaryPath, ["--version"], { env })).stdout;
  };
  expect(await optionsWith("")).toContain("--max-semi-space-size=64 --require");
  // Node takes the last one.
  expect(await optionsWith("--max-semi-space-size=8")).toMatch(/size=64 .*size=8$/);
});
