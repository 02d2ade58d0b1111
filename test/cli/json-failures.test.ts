// With --json, stderr is JSON too: a failure is one object, and remarks are objects that can be told from it.
import { describe, expect, it } from "vitest";
import { ServiceProblem, ServiceUnreachable } from "../../src/client/errors.ts";
import { Refusal } from "../../src/core/errors.ts";
import {
  describeFailure,
  failureDocument,
  failureText,
  HintedFailure,
  usageFailure,
} from "../../src/cli/failure.ts";
import { documents } from "../support/cli.ts";
import { runHere } from "../support/program.ts";

const nobody = {
  LEDGERCTL_URL: "http://127.0.0.1:9",
  LEDGERCTL_API_KEY: "lk_AAECAwQFBgcICQoLDA0ODw",
  LEDGERCTL_API_SECRET: `ls_${"x".repeat(43)}`,
  LEDGERCTL_LEDGER: "0190b6a0-0000-7000-8000-000000000001",
};

const closed = new ServiceProblem({
  status: 409,
  problem: { detail: "the period is closed", code: "PERIOD_CLOSED" },
  requestId: "r-1",
  retryAfterSeconds: null,
  wasRepeated: false,
});

const remedy =
  "`ledgerctl period list` shows what is closed. A mistake in a closed period is put right in an open one: `ledgerctl entry correct ID`.";

describe("the object of a failure", () => {
  it("has the service's code, status and request id", () => {
    expect(failureDocument(closed)).toEqual({
      error: {
        code: "PERIOD_CLOSED",
        message: `the period is closed\n${remedy}`,
        exit: 6,
        status: 409,
        requestId: "r-1",
      },
    });
  });

  it("has null for what is not known", () => {
    const message = "no answer from http://x: refused";
    const unreachable = failureDocument(new ServiceUnreachable("http://x", new Error("refused")));
    expect(unreachable.error).toMatchObject({
      code: null,
      exit: 7,
      status: null,
      requestId: null,
    });
    expect(unreachable.error.message.split("\n")[0]).toBe(message);
    const other = failureDocument("thrown").error;
    expect(other).toEqual({
      ...{ code: null, message: "thrown", exit: 1 },
      ...{ status: null, requestId: null },
    });
  });

  it("has the code of a refusal by the database's side", () => {
    const { error } = failureDocument(new Refusal("periodClosed", "closed"));
    expect(error).toMatchObject({ code: "PERIOD_CLOSED", exit: 6 });
  });

  it("tells every fault and hint, each on a line of the message, as people are told", () => {
    const hinted = new HintedFailure(closed, "Did you mean 2026-04?");
    expect(failureDocument(hinted).error).toMatchObject({
      message: `the period is closed\n${remedy}\nDid you mean 2026-04?`,
      requestId: "r-1",
    });
    expect(describeFailure(hinted)).toBe(
      `ledgerctl: the period is closed\n  ${remedy}\n  Did you mean 2026-04?\n  (409 PERIOD_CLOSED, request r-1)`,
    );
  });

  it("is on one line, without control characters that JSON leaves raw", () => {
    const text = failureText(usageFailure("a\nb\u009bc"), true);
    expect(text).toMatch(/^[^\n\u0080-\u009f]+\n$/);
    expect(JSON.parse(text)).toMatchObject({ error: { message: "a\nb\u009bc" } });
  });
});

describe("with --json", () => {
  const failing: readonly (readonly [args: readonly string[], exit: number, message: RegExp])[] = [
    [["balance", "--json"], 2, /^missing required argument 'code'\n {2}`ledgerctl balance --help`/],
    [["balance", "1000", "--jason", "--json"], 2, /unknown option '--jason'/],
    [["balence", "--json"], 2, /unknown command 'balence'\n {2}Did you mean balance\?/],
    [["account", "--json"], 2, /./],
    [["trial-balance", "--period", "2026-13", "--json"], 2, /^--period "2026-13"/],
    [["balance", "1000", "--json", "--quiet"], 7, /^no answer from http:\/\/127\.0\.0\.1:9/],
    [["merkle", "check", "none.json", "--json"], 1, /none\.json can't be read/],
  ];

  it.each(failing)("%j is one object on stderr and nothing on stdout", async (args, exit, says) => {
    const { code, stdout, stderr } = await runHere(args, nobody);
    expect([code, stdout]).toEqual([exit, ""]);
    const [failure, ...more] = documents<{ error: Record<string, unknown> }>(stderr);
    expect(more).toEqual([]);
    expect(failure).toEqual({
      error: {
        code: null,
        message: expect.stringMatching(says) as string,
        exit,
        status: null,
        requestId: null,
      },
    });
  });

  it("is not taken for asked for behind --", async () => {
    const { stderr } = await runHere(["balance", "--jason", "--", "--json"], nobody);
    expect(stderr).toMatch(/^ledgerctl: unknown option/);
  });

  it("remarks, warnings and exchanges are objects with one member each", async () => {
    const args = ["balance", "1000", "--json", "--verbose", "--url", "http://127.0.0.1:9/"];
    const { stderr } = await runHere(args, nobody);
    const members = documents<object>(stderr).map((document) => Object.keys(document));
    expect(members.length).toBeGreaterThan(1);
    expect(members.at(-1)).toEqual(["error"]);
    for (const names of members.slice(0, -1)) {
      expect(names).toHaveLength(1);
      expect(["exchange", "note"]).toContain(names[0]);
    }
  });

  it("an entry that a dry run finds faults in is a failure", async () => {
    const args = ["entry", "post", "--dry-run", "--line", "1:5", "--line", "2:-4", "--json"];
    const { code, stdout, stderr } = await runHere(args, nobody);
    expect([code, stdout]).toEqual([2, ""]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { exit: 2 } });
  });
});
