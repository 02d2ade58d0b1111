// Messages that would lead somebody astray if they said less.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readyLine } from "../../src/cli/commands/serve/serve.ts";
import { runHere } from "../support/program.ts";
import { describeFailure } from "../../src/cli/failure.ts";
import { ServiceProblem } from "../../src/client/errors.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-messages-"));
const nobody = {
  LEDGERCTL_URL: "http://127.0.0.1:9",
  LEDGERCTL_API_KEY: "lk_AAECAwQFBgcICQoLDA0ODw",
  LEDGERCTL_API_SECRET: `ls_${"x".repeat(43)}`,
  LEDGERCTL_LEDGER: "0190b6a0-0000-7000-8000-000000000001",
};

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function file(name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

describe("a date in a CSV", () => {
  const post = async (date: string) => {
    const header = "transactionDate,glAccountCode,functionalAmount";
    const path = file("dates.csv", [header, `${date},1000,5`, `${date},4000,-5`]);
    return runHere(["entry", "post", "--dry-run", path], nobody);
  };

  it.each([
    ["14.02.2026", /line 2, column transactionDate: must be a day such as 2026-03-15 or a time/],
    ["14.02.2026", /, not "14\.02\.2026"\n/],
    ["02/14/2026", /must be a day such as 2026-03-15/],
    ["2026-02-30", /2026-02 has the days 01 to 28/],
    ["2026-02-14T10:00", /must be a day such as .*T09:30:00Z, not "2026-02-14T10:00"/],
  ])("of %s is told how it is written", async (date, says) => {
    const { code, stdout, stderr } = await post(date);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(says);
  });

  it("is a day, or a time with an offset", async () => {
    for (const date of ["2026-02-14", "2026-02-14T10:00+01:00", "2026-02-14t10:00:00.123456z"]) {
      expect((await post(date)).code).toBe(0);
    }
  });
});

describe("a list of entries where nobody answers", () => {
  it("fails in seconds, once, and no entry is called failed", async () => {
    const entry =
      '{"lines":[{"glAccountCode":"1","functionalAmount":"1"},{"glAccountCode":"2","functionalAmount":"-1"}]}';
    const path = file(
      "five.ndjson",
      Array.from({ length: 5 }, () => entry),
    );
    const startedMs = performance.now();
    const { code, stdout, stderr } = await runHere(["entry", "post", path], nobody);
    expect([code, stdout]).toEqual([7, ""]);
    expect(performance.now() - startedMs).toBeLessThan(15_000);
    expect(stderr.match(/no answer from/g)).toHaveLength(1);
    expect(stderr).not.toContain("failed");
  });
});

describe("a fault of a request", () => {
  const describeFault = (detail: string, pointer: string) =>
    describeFailure(
      new ServiceProblem({
        ...{ status: 400, requestId: "1", retryAfterSeconds: null, wasRepeated: false },
        problem: { code: "VALIDATION_ERROR", detail, errors: [{ detail, pointer }] },
      }),
    );

  it("is a sentence about its field, or says below where it is", () => {
    expect(describeFault("must not be empty", "#/externalId")).toBe(
      "ledgerctl: externalId must not be empty\n  (400 VALIDATION_ERROR, request 1)",
    );
    expect(describeFault("the ledger has no account 9", "#/lines/1/glAccountCode")).toBe(
      "ledgerctl: the ledger has no account 9\n  at #/lines/1/glAccountCode\n  (400 VALIDATION_ERROR, request 1)",
    );
  });
});

describe("a period that is none", () => {
  it("is named, with the forms that there are", async () => {
    const { code, stderr } = await runHere(["trial-balance", "--period", "14.02.2026"], nobody);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^ledgerctl: --period "14\.02\.2026" looks like a date, but is none of 2026, 2026-03,/,
    );
  });
});

describe("a server that is ready", () => {
  it("says where this machine and where others reach it", () => {
    expect(readyLine("http://127.0.0.1:8420", [])).toBe(
      "ledgerctl is ready at http://127.0.0.1:8420",
    );
    expect(
      readyLine("http://127.0.0.1:8420", ["http://192.0.2.7:8420", "http://[2001:db8::7]:8420"]),
    ).toBe(
      "ledgerctl is ready at http://127.0.0.1:8420, for other machines at http://192.0.2.7:8420, http://[2001:db8::7]:8420",
    );
    expect(readyLine("http://192.0.2.7:8420", ["http://192.0.2.7:8420"])).toBe(
      "ledgerctl is ready at http://192.0.2.7:8420",
    );
  });
});

describe("several words behind merkle verify", () => {
  it("are bundles", async () => {
    const { code, stderr } = await runHere(["merkle", "verify", "none.ndjson", "nor.ndjson"]);
    expect(code).toBe(1);
    expect(stderr).not.toContain("too many arguments");
  });
});
