// The server's log where nobody reads it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { expect, test } from "vitest";

const writeMuch = `
  import { createLog } from "./src/log.ts";
  const log = createLog("info");
  const line = "x".repeat(1024);
  for (let turn = 0; turn < 256; turn += 1) {
    for (let count = 0; count < 1024; count += 1) log.info(line);
    await new Promise((resolve) => setImmediate(resolve));
  }
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  console.log(heapUsed + external);
  setInterval(() => undefined, 1000);
`;

test("a log that nobody reads takes a bounded part of the memory", async () => {
  const { outputFiles } = buildSync({
    stdin: {
      contents: writeMuch,
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
    // Its stderr is a pipe that is never read.
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end(outputFiles[0]?.text);
  try {
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    // It has logged 256 MiB.
    expect(Number(said.toString())).toBeLessThan(64 * 1024 * 1024);
  } finally {
    child.kill("SIGKILL");
  }
});
