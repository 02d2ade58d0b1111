// What the verifier in Python says, in words. Whether it is right is a matter of test/acceptance/closes.test.ts.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { bundleOf, bundleText } from "../support/close-vectors.ts";
import { hasPython } from "../support/python.ts";
import { runSecondVerifier } from "../support/second-verifier.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-second-"));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe.runIf(hasPython)("the second verifier", () => {
  it.each([
    [0, "This is a bundle of 4 entries and 2 balance rows."],
    [1, "This is a bundle of 1 entry and 4 balance rows."],
  ])("counts what is in bundle %i, one as one", (index, says) => {
    const file = join(folder, `${index}.ndjson`);
    writeFileSync(file, bundleText(bundleOf(index)));
    const { code, output } = runSecondVerifier(file);
    expect([code, output.split("\n")[0]]).toEqual([0, says]);
  });
});
