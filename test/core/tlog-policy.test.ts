// Policies: what tlog-policy.md allows is read, and each line of it that is broken is refused for that reason.
import { describe, expect, test } from "vitest";
import { parseTlogPolicy, policyOfKeys } from "../../src/core/tlog-policy.ts";
import { verifyCheckpoint } from "../../src/verify/checkpoint.ts";
import { firstVerdict } from "../support/signed-cases.ts";
import { log, logKeyText, witnessKeyText } from "../support/tlog-cases.ts";
import { quorums, refusedPolicies, witnessesNamed } from "../support/tlog-policy-cases.ts";

describe("refuses a policy, for there must be", () => {
  test.each(refusedPolicies)("%s", (_, policy, reason) => {
    const { ok, finding } = firstVerdict({ policy: Buffer.from(policy) });
    expect(ok).toBe(false);
    expect(finding).toMatch(reason);
  });
});

describe.each(quorums)("the policy of $why", ({ policy, enough, tooFew }) => {
  const data = (names: string) => Buffer.from(log.note(7, witnessesNamed(names)));

  test.each(enough)("is met by '%s'", (names) => {
    const verdict = firstVerdict({ data: data(names), policy: Buffer.from(policy) });
    expect(verdict).toMatchObject({ ok: true });
  });

  test.each(tooFew)("is not met by '%s'", (names) => {
    const verdict = firstVerdict({ data: data(names), policy: Buffer.from(policy) });
    expect(verdict.finding).toMatch(/too few witnesses cosigned; missing: /);
  });
});

test("a policy tells of URLs, and its lines without them of the quorum", () => {
  const witness = `witness W ${witnessKeyText}`;
  const policy = `log ${logKeyText} https://log\n# comment\n${witness} https://w/é\n\tquorum  W`;
  const read = parseTlogPolicy(Buffer.from(policy));
  expect(read.logs.map(({ url }) => url)).toEqual(["https://log"]);
  expect(read.witnesses.map(({ name, url }) => [name, url])).toEqual([["W", "https://w/é"]]);
  expect(read.witnessLines).toEqual([witness, "quorum W"]);
});

test("a policy of keys takes all witnesses, and at least one of the logs", () => {
  const [one, other] = witnessesNamed("ab");
  const keys = [one, other].map((signer) => signer?.verifierKey ?? expect.fail());
  const policy = policyOfKeys([log.signer.verifierKey], keys);
  const { signers } = verifyCheckpoint(log.note(7, witnessesNamed("ba")), policy);
  expect(signers.map(({ name }) => name)).toEqual([log.origin, ...keys.map(({ name }) => name)]);
  expect(() => verifyCheckpoint(log.note(7, witnessesNamed("b")), policy)).toThrow(
    "too few witnesses cosigned; missing: witness.example.com/a",
  );
  expect(() => verifyCheckpoint(log.note(7, witnessesNamed("ab")), policyOfKeys([], keys))).toThrow(
    "no trusted key of the log",
  );
});
