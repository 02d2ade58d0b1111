// One check of `log watch` against logs in memory, with real keys, notes and proofs: honest ones, and such as cheat.
import { describe, expect, test } from "vitest";
import {
  BadState,
  checkLog,
  LogConflict,
  type GoodCheck,
} from "../../src/cli/commands/log/watch-check.ts";
import type { LogSource } from "../../src/cli/commands/log/log-source.ts";
import { ServiceProblem } from "../../src/client/ledger-client.ts";
import { consistencyRanges } from "../../src/core/merkle.ts";
import { formatVerifierKey, NoteSigner, type VerifierKey } from "../../src/core/note.ts";
import { parseTlogPolicy, policyOfKeys } from "../../src/core/tlog-policy.ts";
import { journalOrigin, ledgerId, TestLog, witnessOf } from "../support/tlog.ts";

const data = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => `leaf ${first + index}`);
const log = new TestLog(journalOrigin, data(300));
const [north, south] = [witnessOf("north.example.com/w"), witnessOf("south.example.com/w")];
const policy = policyOfKeys([log.signer.verifierKey], []);
const witnessed = policyOfKeys([log.signer.verifierKey], [north.verifierKey]);

interface Shown {
  /** Whose proofs the server gives. */
  readonly tree?: TestLog;
  readonly newest: string | null;
  readonly cosigned?: string | null;
  readonly origin?: string;
  readonly origins?: readonly { origin: string; verifierKey: string }[];
  readonly firsts?: Readonly<Record<string, string>>;
  readonly halted?: string;
  readonly hashes?: readonly string[];
}

/** A server that shows this. */
function server({ tree = log, newest, ...shown }: Shown): LogSource {
  const origins = shown.origins ?? [toldKey(journalOrigin, log.signer.verifierKey)];
  const { origin, verifierKey } = origins.at(-1) ?? { origin: "", verifierKey: "" };
  return {
    ledgerId,
    log: "journal",
    getLog: () =>
      Promise.resolve({
        ...{ origin: shown.origin ?? origin, verifierKey, origins: [...origins] },
        ...{ checkpoint: newest, halted: shown.halted ?? null },
      }),
    findCosigned: () => Promise.resolve(shown.cosigned ?? null),
    findFirst: (asked) => Promise.resolve(shown.firsts?.[asked] ?? null),
    getConsistency: ({ from, to }) => {
      if (to > tree.size) return Promise.reject(problem(400, "VALIDATION_ERROR"));
      const hashes = consistencyRanges(from, to).map((range) =>
        tree.rootHash(range.from, range.to),
      );
      return Promise.resolve(shown.hashes ?? hashes.map((hash) => hash.toString("base64")));
    },
  };
}

function toldKey(origin: string, key: VerifierKey) {
  return { origin, verifierKey: formatVerifierKey(key) };
}

function problem(status: number, code: string): ServiceProblem {
  const reply = { status, requestId: null, retryAfterSeconds: null, wasRepeated: false };
  return new ServiceProblem({ ...reply, problem: { code, detail: code } as never });
}

async function good(...args: Parameters<typeof checkLog>): Promise<GoodCheck> {
  const found = await checkLog(...args);
  if ("nothingYet" in found) throw new Error(found.nothingYet);
  return found;
}

async function conflict(...args: Parameters<typeof checkLog>): Promise<LogConflict> {
  const error: unknown = await checkLog(...args).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(LogConflict);
  return error as LogConflict;
}

describe("an honest log", () => {
  test("is kept from the first note on, and as it grows", async () => {
    const first = await good(server({ newest: log.note(5) }), policy, null);
    expect(first).toMatchObject({ note: log.note(5), previousSize: null, toldKey: null });
    for (const [from, to] of [
      [5, 5],
      [5, 6],
      [5, 8],
      [8, 300],
      [1, 2],
      [256, 300],
    ] as const) {
      const found = await good(server({ newest: log.note(to) }), policy, log.note(from));
      expect(found).toMatchObject({ note: log.note(to), previousSize: from, restartedFrom: null });
    }
  });

  test("that has nothing yet has nothing to check", async () => {
    expect(await checkLog(server({ newest: null }), policy, null)).toHaveProperty("nothingYet");
  });

  test("may be halted, which is told", async () => {
    const source = server({ newest: log.note(5), halted: "another database" });
    expect(await good(source, policy, log.note(5))).toMatchObject({ halted: "another database" });
  });

  test("gets cosignatures later", async () => {
    const later = log.note(5, [north]);
    const found = await good(server({ newest: later, cosigned: later }), witnessed, later);
    expect(found.note).toBe(later);
    const grown = await good(server({ newest: later }), policy, log.note(5));
    expect(grown.note).toBe(later);
  });
});

describe("exits for", () => {
  const forked = new TestLog(journalOrigin, [...data(4), "another", ...data(20, 5)]);

  test.each([
    ["a log that shrank", { newest: log.note(4) }, /shrank from 5 leaves to 4/],
    ["a log that lost everything", { newest: null }, /shrank from 5 leaves: it has no checkpoint/],
    ["two roots of one size", { newest: forked.note(5) }, /forked: it has two roots over 5 leaves/],
    ["a fork", { newest: forked.note(7), tree: forked }, /forked: its 7 leaves do not begin with/],
    ["a fork with the true proof", { newest: forked.note(7) }, /forked/],
    ["a proof that is empty", { newest: log.note(7), hashes: [] }, /forked/],
    ["a proof that is no base64", { newest: log.note(7), hashes: ["?"] }, /forked/],
    [
      "a server that gives no proof",
      { newest: log.note(7), tree: new TestLog(journalOrigin, []) },
      /does not prove/,
    ],
    ["a note of another size", { newest: log.note(7).replace("\n7\n", "\n8\n") }, /not valid/],
    ["a note of another key", { newest: resigned(7) }, /no trusted key/],
    [
      "another log's note",
      { newest: new TestLog(`${journalOrigin.slice(0, -8)}/closes`, data(7)).note() },
      /not of the log journal/,
    ],
    ["a note that is none", { newest: "nothing" }, /can't be trusted/],
    [
      "a key that is none",
      { newest: log.note(7), origins: [{ origin: journalOrigin, verifierKey: "x" }] },
      /a key that is none/,
    ],
    [
      "another name",
      { newest: new TestLog(journalOrigin.replace("ledger.", "other."), data(7)).note() },
      /another name/,
    ],
  ] as const)("%s", async (_, shown, message) => {
    const found = await conflict(server(shown), policy, log.note(5));
    expect(found.message).toMatch(message);
    if (!/key that is none/.test(found.message)) expect(found.newNote).toBe(shown.newest);
  });

  test("a fork, with the proof that failed", async () => {
    const found = await conflict(
      server({ newest: forked.note(7), tree: forked }),
      policy,
      log.note(5),
    );
    expect(found.proof).toMatchObject({ from: 5, to: 7 });
    expect(found.proof?.hashes.length).toBeGreaterThan(0);
  });

  test("a first note that nobody vouches for", async () => {
    expect((await conflict(server({ newest: resigned(5) }), policy, null)).newNote).toBe(
      resigned(5),
    );
  });

  function resigned(size: number): string {
    const [text = ""] = log.note(size).split("\n\n");
    const other = new NoteSigner(journalOrigin, Buffer.alloc(32, 9)).sign(`${text}\n`);
    const bytes = Buffer.concat([Buffer.from(other.keyId, "hex"), other.signature]);
    return `${text}\n\n— ${journalOrigin} ${bytes.toString("base64")}\n`;
  }
});

describe("the last note", () => {
  const note = log.note(5, [north]);
  const source = server({ newest: log.note(7), cosigned: log.note(7, [north]) });

  test("is refused with any byte changed, whoever is trusted", async () => {
    for (const trusted of [witnessed, policyOfKeys([log.signer.verifierKey], [])]) {
      const own = trusted === witnessed ? note : log.note(5);
      const bytes = Buffer.from(own);
      for (const [index, byte] of bytes.entries()) {
        const changed = Buffer.from(bytes);
        changed[index] = byte ^ 1;
        const text = changed.toString("utf8");
        await expect(checkLog(source, trusted, text), JSON.stringify(text)).rejects.toThrow(
          BadState,
        );
        // Whoever names no witness can't check a cosignature.
        if (trusted !== witnessed) {
          await expect(checkLog(source, null, text)).rejects.toThrow(BadState);
        }
      }
    }
  });

  test.each([
    ["cut off", note.slice(0, -3)],
    ["empty", ""],
    ["of too few witnesses", log.note(5)],
    ["of another log", new TestLog(`${journalOrigin.slice(0, -8)}/closes`, data(7)).note()],
  ])("is refused where it is %s", async (_, text) => {
    await expect(checkLog(source, witnessed, text)).rejects.toThrow(BadState);
  });
});

describe("trust on first use", () => {
  const other = new NoteSigner(journalOrigin, Buffer.alloc(32, 9));

  test("takes the key that the server says, and then no other", async () => {
    const first = await good(server({ newest: log.note(5) }), null, null);
    expect(first.toldKey).toEqual(log.signer.verifierKey);
    expect(await good(server({ newest: log.note(7) }), null, log.note(5))).toMatchObject({
      note: log.note(7),
    });
    const origins = [toldKey(journalOrigin, other.verifierKey)];
    const replaced = checkLog(server({ newest: log.note(7), origins }), null, log.note(5));
    await expect(replaced).rejects.toThrow(BadState);
  });

  test("is not misled by a second key beside the first", async () => {
    const text = log.text(7);
    const forged = `${text}\n— ${journalOrigin} ${Buffer.concat([
      Buffer.from(other.verifierKey.keyId, "hex"),
      other.sign(text).signature,
    ]).toString("base64")}\n`;
    const origins = [log.signer, other].map(({ verifierKey }) =>
      toldKey(journalOrigin, verifierKey),
    );
    const found = await conflict(server({ newest: forged, origins }), null, log.note(5));
    expect(found.message).toMatch(/no trusted key/);
  });
});

describe("with witnesses", () => {
  test("takes the newest that enough of them cosigned", async () => {
    const source = server({ newest: log.note(9), cosigned: log.note(7, [north]) });
    expect((await good(source, witnessed, log.note(5, [north]))).note).toBe(log.note(7, [north]));
    expect((await good(source, witnessed, null)).note).toBe(log.note(7, [north]));
    const both = parseTlogPolicy(
      Buffer.from(
        `log ${formatVerifierKey(log.signer.verifierKey)}\nwitness n ${formatVerifierKey(north.verifierKey)}\n` +
          `witness s ${formatVerifierKey(south.verifierKey)}\ngroup g all n s\nquorum g\n`,
      ),
    );
    expect((await conflict(source, both, null)).message).toMatch(/too few witnesses cosigned/);
  });

  test("waits where none has met the quorum", async () => {
    const source = server({ newest: log.note(9) });
    expect(await checkLog(source, witnessed, null)).toHaveProperty("nothingYet");
    const last = log.note(5, [north]);
    expect(await good(source, witnessed, last)).toMatchObject({
      note: last,
      remark: expect.stringContaining("no checkpoint has met the quorum") as string,
    });
  });

  test("finds out a fork that no witness has cosigned", async () => {
    const fork = new TestLog(journalOrigin, [...data(3), "another", ...data(20, 4)]);
    const cosigned = log.note(7, [north]);
    // The proofs up to what was cosigned are those of the one tree, those beyond of the other.
    const source: LogSource = {
      ...server({ newest: fork.note(9), cosigned }),
      getConsistency: ({ from, to }) =>
        server({ tree: to <= 7 ? log : fork, newest: null }).getConsistency({ from, to }),
    };
    for (const last of [null, log.note(5, [north]), cosigned]) {
      const found = await conflict(source, witnessed, last);
      expect(found.message).toMatch(/its 9 leaves do not begin with the 7 that it showed before/);
      // Both are evidence, also where the last note is older.
      expect([found.seenNote, found.newNote]).toEqual([cosigned, fork.note(9)]);
    }
    const shrunk = server({ newest: log.note(6), cosigned });
    expect((await conflict(shrunk, witnessed, cosigned)).message).toMatch(/shrank from 7 leaves/);
  });

  test("an older one is no harm where the newest holds to the last, and else found out", async () => {
    const last = log.note(7, [north]);
    const source = (newest: string) => server({ newest, cosigned: log.note(5, [north]) });
    expect((await good(source(log.note(9)), witnessed, last)).note).toBe(last);
    const found = await conflict(source(log.note(6)), witnessed, last);
    expect(found.message).toMatch(/shrank from 7 leaves to 6/);
  });
});

describe("a log that was begun anew", () => {
  const origin2 = `${journalOrigin}.2`;
  const origin3 = `${journalOrigin}.3`;
  const [second, third] = [new TestLog(origin2, data(300)), new TestLog(origin3, data(300))];
  const origins = [log, second, third].map(({ origin, signer }) =>
    toldKey(origin, signer.verifierKey),
  );
  const anew = { origins: origins.slice(0, 2), firsts: { [origin2]: second.note(6) } };

  test.each([
    ["named keys", policy],
    ["trust on first use", null],
  ])("is followed to a new key where it begins with what was seen: %s", async (_, trusted) => {
    const found = await good(server({ ...anew, newest: second.note(9) }), trusted, log.note(5));
    expect(found).toMatchObject({ note: second.note(9), restartedFrom: journalOrigin });
    expect(found.toldKey).toEqual(second.signer.verifierKey);
    // From then on it is the log's key.
    const next = await good(server({ ...anew, newest: second.note(12) }), trusted, second.note(9));
    expect(next).toMatchObject({ note: second.note(12), restartedFrom: null });
  });

  test("is followed across two origins at once, and with witnesses", async () => {
    const firsts = { ...anew.firsts, [origin3]: third.note(8) };
    const newest = third.note(9, [north]);
    const source = server({ origins, firsts, newest, cosigned: newest });
    expect((await good(source, policy, log.note(5))).note).toBe(newest);
    expect((await good(source, witnessed, log.note(5, [north]))).note).toBe(newest);
    const bare = server({ origins, firsts, newest: third.note(9), cosigned: third.note(9) });
    expect((await conflict(bare, witnessed, log.note(5, [north]))).message).toMatch(/too few/);
  });

  test("waits for its first checkpoint there", async () => {
    const found = await good(server({ ...anew, newest: null }), policy, log.note(5));
    expect(found).toMatchObject({
      note: log.note(5),
      remark: expect.stringContaining(origin2) as string,
    });
  });

  test.each([
    [
      "begins with less",
      { ...anew, firsts: { [origin2]: second.note(4) }, newest: second.note(9) },
      /shrank from 5 leaves to 4/,
    ],
    ["begins with something else", otherwise(), /forked/],
    [
      "goes back to its old name",
      { newest: log.note(9), last: second.note(7) },
      /can't be trusted/,
    ],
    ["is not known at all", { ...anew, newest: second.note(9), last: null }, /no trusted key/],
  ])("is refused where it %s", async (_, shown, message) => {
    const last = "last" in shown ? shown.last : log.note(5);
    const trusted =
      last === null
        ? policy
        : policyOfKeys([log.signer.verifierKey, second.signer.verifierKey], []);
    const named = last === null ? policy : last === log.note(5) ? policy : trusted;
    expect((await conflict(server(shown), named, last)).message).toMatch(message);
  });

  function otherwise() {
    const tree = new TestLog(origin2, [...data(3), "another", ...data(20, 4)]);
    return { ...anew, tree, firsts: { [origin2]: tree.note(6) }, newest: tree.note(9) };
  }
});
