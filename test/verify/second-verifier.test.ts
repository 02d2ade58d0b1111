// What the verifier in Python says, in words. Whether it is right is a matter of test/acceptance/closes.test.ts.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, describe, expect, it } from "vitest";
import { bundleLines } from "../../src/cli/commands/merkle/check-close.ts";
import { checkBundle } from "../../src/verify/bundle.ts";
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

  const verdictOn = async (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    const first = await checkBundle(bundleLines(Readable.from([Buffer.from(text)])), null);
    return { first, second: runSecondVerifier(file) };
  };

  it("says as the first one does what a figure is and what it comes to", async () => {
    const text = bundleText(bundleOf(1)).replace(
      /"merkleRoot":"[0-9a-f]{64}"/,
      `"merkleRoot":"${"0".repeat(64)}"`,
    );
    const { first, second } = await verdictOn("root.ndjson", text);
    const says = first.findings
      .map(({ what }) => what)
      .find((what) => what.startsWith("merkleRoot"));
    expect(says).toMatch(/^merkleRoot is 0{64}, but comes to [0-9a-f]{64}$/);
    expect(second.code).toBe(3);
    expect(second.output).toContain(`close record: ${says ?? ""} (computed from 1 entry)\n`);
    expect(second.output).not.toContain("merkleRoot: expected");
  });

  it("says as the first one does that there is no line feed at the end", async () => {
    const text = bundleText(bundleOf(1)).slice(0, -1);
    const { first, second } = await verdictOn("unended.ndjson", text);
    const where = `line ${text.split("\n").length}`;
    const says = "no line feed at its end: the file may have been cut off";
    expect(first.findings).toEqual([{ where, what: `has ${says}` }]);
    expect(second.output).toBe(`${where}: ${says}\nNOT verified: 1 finding\n`);
  });
});
