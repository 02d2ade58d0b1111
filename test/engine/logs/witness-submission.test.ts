// Checkpoints submitted to a witness, which checks them as C2SP tlog-witness has it: what a right one and a wrong one come
// to, and what a witness that misbehaves does.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NoteSigner, parseNote } from "../../../src/core/note.ts";
import {
  submissionUrlFault,
  WitnessConnection,
  WitnessFailure,
} from "../../../src/engine/logs/witness-request.ts";
import { askWitness, submitCheckpoint } from "../../../src/engine/logs/witness-submission.ts";
import { verifyCheckpoint } from "../../../src/verify/checkpoint.ts";
import { policyOfKeys } from "../../../src/core/tlog-policy.ts";
import { formatNote } from "../../support/format-note.ts";
import { TestLog } from "../../support/test-log.ts";
import { startWitness, type TestWitness, type WitnessMode } from "../../support/witness.ts";

let witness: TestWitness;
let connection: WitnessConnection;
let log: TestLog;

beforeEach(async () => {
  witness = await startWitness();
  connection = new WitnessConnection(witness, { timeoutMs: 1_000 });
  log = new TestLog().grow(7);
  witness.trust(log.signer.verifierKey);
});

afterEach(async () => {
  await connection.close();
  await witness.close();
});

/** Of a submission that fails. */
async function failure(oldSize = 0): Promise<WitnessFailure> {
  const error: unknown = await submitCheckpoint(connection, log.checkpoint(), oldSize).catch(
    (error: unknown) => error,
  );
  if (!(error instanceof WitnessFailure)) throw new Error("it did not fail", { cause: error });
  return error;
}

describe("an honest witness", () => {
  it("cosigns the first checkpoint, and a verifier accepts the cosignature", async () => {
    const { note } = log.checkpoint();
    const answer = await submitCheckpoint(connection, log.checkpoint(), 0);
    if (answer.outcome !== "cosigned") throw new Error(answer.outcome);
    const { text, signatures } = parseNote(note);
    const cosigned = formatNote({ text, signatures: [...signatures, answer.signature] });
    const policy = policyOfKeys([log.signer.verifierKey], [witness.key]);
    expect(verifyCheckpoint(cosigned, policy).signers[1]).toEqual({
      name: witness.name,
      time: answer.time,
    });
    expect(Math.abs(answer.time - Date.now() / 1000)).toBeLessThan(60);
  });

  it("gets a proof from every size to every later one", async () => {
    log.grow(10);
    for (let from = 1; from <= 17; from += 1) {
      for (let to = from; to <= 17; to += 1) {
        witness.forget(log.origin);
        await submitCheckpoint(connection, log.checkpoint(from), 0);
        const answer = await submitCheckpoint(connection, log.checkpoint(to), from);
        expect(answer.outcome).toBe("cosigned");
        expect(witness.seen(log.origin)?.size).toBe(to);
      }
    }
  });

  it("says what it has where that was not known, and is told the rest", async () => {
    await submitCheckpoint(connection, log.checkpoint(3), 0);
    const answer = await submitCheckpoint(connection, log.checkpoint(7), 0);
    expect(answer.outcome).toBe("cosigned");
    expect(witness.asked.slice(1)).toEqual([`old 0 ${log.origin}`, `old 3 ${log.origin}`]);
  });

  it("is begun anew where it has forgotten the log", async () => {
    await submitCheckpoint(connection, log.checkpoint(3), 0);
    witness.forget(log.origin);
    const answer = await submitCheckpoint(connection, log.checkpoint(7), 3);
    expect(answer.outcome).toBe("cosigned");
  });

  it("has a larger tree than is submitted", async () => {
    await submitCheckpoint(connection, log.checkpoint(7), 0);
    const answer = await submitCheckpoint(connection, log.checkpoint(5), 3);
    expect(answer).toEqual({ outcome: "ahead", size: 7 });
  });

  it.each([
    ["of the same size", 7],
    ["that is smaller", 5],
  ])("refuses a log that differs from one %s", async (_, size) => {
    await submitCheckpoint(connection, log.checkpoint(size), 0);
    const fork = new TestLog().grow(7, "other leaf");
    const answer = await submitCheckpoint(connection, fork.checkpoint(), 0);
    expect(answer).toEqual({ outcome: "inconsistent", size });
    expect(witness.seen(log.origin)?.size).toBe(size);
  });

  it("refuses a log that it does not know, and a key", async () => {
    log = new TestLog("log.example.com/unknown").grow(3);
    expect(await failure()).toMatchObject({
      concernsLog: true,
      message: 'answered 404: "unknown log"',
    });
    witness.trust(new NoteSigner(log.origin, Buffer.alloc(32, 9)).verifierKey);
    expect(await failure()).toMatchObject({ concernsLog: true, message: "answered 403" });
  });
});

describe("a witness's own checks", () => {
  const submit = (oldSize: number, proof: readonly Buffer[], note = log.checkpoint().note) =>
    connection.addCheckpoint({ oldSize, proof, note });

  it("want no proof from nothing, and a right one from anything else", async () => {
    expect(await submit(0, [Buffer.alloc(32)])).toEqual({ outcome: "inconsistent" });
    await submitCheckpoint(connection, log.checkpoint(3), 0);
    expect(await submit(3, [])).toEqual({ outcome: "inconsistent" });
    const proof = await log.checkpoint().proveFrom(3);
    expect(await submit(3, [...proof, Buffer.alloc(32)])).toEqual({ outcome: "inconsistent" });
    expect(await submit(3, [...proof].reverse())).toEqual({ outcome: "inconsistent" });
    expect(await submit(3, proof)).toMatchObject({ outcome: "cosigned" });
  });

  it("want an old size up to the checkpoint's, and a signature that holds", async () => {
    await expect(submit(8, [])).rejects.toThrow("answered 400");
    const { text } = parseNote(log.checkpoint().note);
    const signature = { ...log.signer.sign("another text\n"), name: log.origin };
    await expect(submit(0, [], formatNote({ text, signatures: [signature] }))).rejects.toThrow(
      "answered 403",
    );
  });
});

describe("a witness that misbehaves", () => {
  it.each<[WitnessMode, string]>([
    ["wrong signature", "has a signature that does not hold"],
    ["signature of another key", "has no signature of witness.example.com/w1+"],
    ["signature without time", "has a signature that does not hold"],
    ["signature from the far future", "has a signature of more than a day from now"],
    ["two signatures", "has two signatures of"],
    ["signature without newline", "does not end with lines of signatures"],
    ["no signature", "does not end with lines of signatures"],
    ["junk", "control characters"],
    ["error", 'answered 500: "something went wrong"'],
    ["redirect", "answered 307"],
    ["cut off", "other side closed"],
    ["huge", "Response content exceeded max size"],
    ["hanging", "no answer within 1 s"],
    ["dripping", "no answer within 1 s"],
  ])("by %s fails as a whole", async (mode, message) => {
    witness.mode = mode;
    const failed = await failure();
    expect(failed.message).toContain(message);
    expect(failed.concernsLog).toBe(false);
  });

  it.each<[WitnessMode, string]>([
    ["always a conflict", "answers 409 whatever size it is told"],
    ["conflict without type", "answered 409 without a size"],
    ["conflict with junk", 'answered 409: the size "1e3" is not a decimal number'],
  ])("by %s fails for the log", async (mode, message) => {
    witness.mode = mode;
    const failed = await failure(2);
    expect(failed.message).toContain(message);
    expect(failed.concernsLog).toBe(true);
  });

  it("that is overloaded says when to come back", async () => {
    witness.mode = "overloaded";
    expect(await failure()).toMatchObject({ concernsLog: false, retryAfterMs: 1_000 });
  });

  it("that is not there refuses the connection", async () => {
    await witness.goAway();
    expect((await failure()).message).toContain("ECONNREFUSED");
  });

  it("may be slow, and may sign with strangers", async () => {
    witness.mode = "slow";
    expect(await submitCheckpoint(connection, log.checkpoint(), 0)).toMatchObject({
      outcome: "cosigned",
    });
    witness.mode = "signature of a stranger beside its own";
    expect(await submitCheckpoint(connection, log.checkpoint(), 7)).toMatchObject({
      outcome: "cosigned",
      signature: { name: witness.name },
    });
  });
});

describe("the opinion of a witness", () => {
  const ask = (of = log) => askWitness(witness, of.checkpoint());

  it("agrees where it has the same tree, or the beginning of it", async () => {
    expect(await ask()).toMatchObject({ opinion: "agrees" });
    expect(await ask()).toMatchObject({ opinion: "agrees" });
    expect(await ask(log.grow(3))).toMatchObject({ opinion: "agrees" });
  });

  it("tells a larger tree, and another one", async () => {
    await ask(new TestLog().grow(9, "other leaf"));
    expect(await ask()).toEqual({ opinion: "has more", size: 9 });
    expect(await ask(log.grow(2))).toEqual({ opinion: "has another root", size: 9 });
    expect(await ask(log.grow(2))).toEqual({ opinion: "has another root", size: 9 });
  });

  it("is unknown where it can't be asked", async () => {
    await witness.goAway();
    const { opinion, ...rest } = await ask();
    expect(opinion).toBe("unknown");
    expect(rest).toMatchObject({ reason: expect.stringContaining("ECONNREFUSED") as string });
  });
});

it("takes http and https URLs as submission prefixes, and no secrets in them", () => {
  expect(submissionUrlFault("https://witness.example.com/prefix/")).toBeNull();
  expect(submissionUrlFault("witness.example.com")).toContain("http://");
  expect(submissionUrlFault("file:///etc/passwd")).toContain("http://");
  expect(submissionUrlFault("https://user:secret@witness.example.com")).toContain("no user");
  expect(submissionUrlFault("https://witness.example.com/?key=1")).toContain("no query");
});
