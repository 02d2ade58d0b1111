// A file that can't be written is the file's fault, however far what is written has come by then.
import { pbkdf2 } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { writeOutputFile } from "../../../src/cli/terminal/output-file.ts";

async function* endless() {
  for (;;) yield "x".repeat(1000);
}

async function* failing() {
  yield "x";
  throw new Error("the source failed");
}

it.each([
  ["/no-such-folder/x.csv", "can't be written: there is no folder /no-such-folder"],
  ["/dev/full", "can't be written: the disk is full"],
])("says of %s that it %s", async (file, message) => {
  await expect(writeOutputFile(file, endless())).rejects.toThrow(`${file} ${message}`);
});

it("passes on what the source throws", async () => {
  await expect(writeOutputFile("/dev/null", failing())).rejects.toThrow(/^the source failed$/);
});

it("leaves nothing of a file that is opened only after its source has failed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledgerctl-output-file-"));
  const written = writeOutputFile(join(folder, "x.csv"), failing());
  // These keep all threads of the process, so that the file can't be opened before.
  const hash = () => promisify(pbkdf2)("", "", 100_000, 64, "sha512");
  const work = Array.from({ length: 8 }, hash);
  await expect(written).rejects.toThrow(/^the source failed$/);
  await Promise.all(work);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});
