// The server's log where nobody reads it, and where it can't be written.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { expect, test } from "vitest";

const writeMuch = `
  import { createLog } from "./src/log.ts";
  const log = createLog("info");
  const line = "x".repeat(1024);
  for (let round = 0; round < 256; round += 1) {
    for (let count = 0; count < 1024; count += 1) log.info(line);
    await new Promise((resolve) => setImmediate(resolve));
  }
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  console.log(heapUsed + external);
  setInterval(() => undefined, 1000);
`;
const writeAndExit = `
  import { createLog } from "./src/log.ts";
  const log = createLog("info");
  for (const line of ["one", "two"]) {
    log.info(line);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  log.info("three");
  process.exit(7);
`;

/** Runs a program with this folder's modules; its stderr is a pipe, unless another is given. */
function run(program: string, stderr: "pipe" | number = "pipe") {
  const { outputFiles } = buildSync({
    stdin: {
      contents: program,
      resolveDir: fileURLToPath(new URL("..", import.meta.url)),
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "esm",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire("/");',
    },
    write: false,
  });
  const child = spawn(process.execPath, ["--expose-gc", "--input-type=module", "-"], {
    stdio: ["pipe", "pipe", stderr],
  });
  child.stdin?.end(outputFiles[0]?.text);
  return child;
}

test("a log that nobody reads takes a bounded part of the memory", async () => {
  const child = run(writeMuch);
  try {
    const [said] = (await once(child.stdout ?? child, "data")) as [Buffer];
    // It has logged 256 MiB.
    expect(Number(said.toString())).toBeLessThan(64 * 1024 * 1024);
  } finally {
    child.kill("SIGKILL");
  }
});

test("every line is written before the process exits", async () => {
  const child = run(writeAndExit);
  let text = "";
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  expect(await once(child, "close")).toEqual([7, null]);
  const lines = text.trim().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    "one",
    "two",
    "three",
  ]);
});

test("a log that can't be written does not keep the process from its work or its end", async () => {
  // As a full disk, or a terminal that was closed.
  const full = openSync("/dev/full", "w");
  const child = run(writeAndExit, full);
  closeSync(full);
  try {
    expect(await once(child, "exit")).toEqual([7, null]);
  } finally {
    child.kill("SIGKILL");
  }
});
