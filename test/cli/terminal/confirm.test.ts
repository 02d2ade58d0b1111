// The question before what can't be undone, on a terminal of streams.
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { askToConfirm } from "../../../src/cli/terminal/confirm.ts";

function answering(keys: string | null): Promise<void> {
  const input = new PassThrough();
  const output = new PassThrough();
  // What is typed before the question is asked would be lost.
  output.once("data", () => {
    if (keys === null) input.end();
    else input.write(keys);
  });
  return askToConfirm("Close it?", { input, output });
}

describe("a question", () => {
  it("is answered by yes alone", async () => {
    await answering("y\r");
    await answering("Yes\r");
    for (const keys of ["n\r", "\r", "yesterday\r"]) {
      await expect(answering(keys)).rejects.toMatchObject({ exitCode: 1 });
    }
  });

  it("ends with 130 on Ctrl-C, and like a no where the input ends", async () => {
    await expect(answering("y\u0003")).rejects.toMatchObject({
      exitCode: 130,
      message: "interrupted; nothing was done",
    });
    await expect(answering("\u0004")).rejects.toMatchObject({ exitCode: 1 });
    await expect(answering(null)).rejects.toMatchObject({ exitCode: 1 });
  });
});
