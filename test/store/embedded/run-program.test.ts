// Running the programs of PostgreSQL: what is kept of what they write.
import { expect, test } from "vitest";
import { runProgram } from "../../../src/store/embedded/run-program.ts";

test("keeps the end of what a program writes, 64 KiB of each stream", async () => {
  const script = `
    for (const stream of [process.stdout, process.stderr]) {
      stream.write("beginning" + "é".repeat(300_000) + "end");
    }
    process.exitCode = 3;`;
  const { code, stdout, stderr } = await runProgram(process.execPath, ["-e", script], undefined);
  expect(code).toBe(3);
  for (const said of [stdout, stderr]) expect(said).toBe(`${"é".repeat(64 * 1024 - 3)}end`);
});

test("rejects with the system's error where there is no such program", async () => {
  const run = runProgram("/nonexistent/program", [], undefined);
  await expect(run).rejects.toMatchObject({ code: "ENOENT" });
});
