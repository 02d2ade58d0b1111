// A file that can't be written is the file's fault, however far what is written has come by then.
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
