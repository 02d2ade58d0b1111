// Signed notes: what signed-note.md allows is read, and each line of it that is broken is refused for that reason.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  decodeNote,
  formatSignatureLine,
  formatVerifierKey,
  isEd25519Signature,
  MalformedNote,
  NoteSigner,
  noteBytesMax,
  parseNote,
  parseVerifierKey,
} from "../../src/core/note.ts";
import { formatNote } from "../support/format-note.ts";
import { expectRefused, firstVerdict } from "../support/signed-cases.ts";
import { log, logKeyText, refusedNotes, strangerLine } from "../support/tlog-cases.ts";
import { refusedKeys } from "../support/tlog-policy-cases.ts";

const ed25519 = JSON.parse(
  readFileSync(new URL("../vectors/ed25519.json", import.meta.url), "utf8"),
) as readonly Readonly<
  Record<"why" | "text" | "publicKey" | "signature", string> & { valid: boolean }
>[];

test("reads the example of the specification", () => {
  const note =
    "This is an example message.\n\n" +
    "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";
  const key = parseVerifierKey(
    "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
  );
  const { text, signatures } = parseNote(note);
  const [{ name, keyId, signature } = expect.fail()] = signatures;
  expect([name, keyId]).toEqual([key.name, key.keyId]);
  expect(isEd25519Signature(text, signature, key.publicKey)).toBe(true);
  expect(formatNote({ text, signatures })).toBe(note);
});

test.each([
  ["texts with empty lines", "\n\nfirst\n\n\nsecond\n\n"],
  ["texts beyond ASCII", "è subito sera \u{1f300}\u0085\u007f\n"],
])("reads %s as they were written", (_, text) => {
  const signer = new NoteSigner("key", Buffer.alloc(32));
  const note = formatNote({ text, signatures: [signer.sign(text)] });
  expect(parseNote(note)).toEqual({ text, signatures: [signer.sign(text)] });
  expect(decodeNote(Buffer.from(note))).toBe(note);
});

test("reads a hundred signatures, and a megabyte", () => {
  const lines = strangerLine.repeat(100);
  const note = `text\n\n${lines}`;
  expect(parseNote(note).signatures).toHaveLength(100);
  const filled = "x".repeat(noteBytesMax - note.length - 2 * 100) + note;
  expect(Buffer.byteLength(filled)).toBe(noteBytesMax);
  expect(parseNote(filled).signatures).toHaveLength(100);
  expect(() => parseNote(`x${filled}`)).toThrow(MalformedNote);
});

test("refuses a lone surrogate", () => {
  expect(() => parseNote(log.note().replace("ledger", "\ud800"))).toThrow(MalformedNote);
});

test("ignores signatures of unknown keys, whatever their type and length", () => {
  const { name, keyId } = log.signer.verifierKey;
  const others = [
    { name: `${name}x`, keyId, signature: Buffer.alloc(64) },
    { name, keyId: "00000000", signature: Buffer.alloc(64) },
    { name: "é\u0301", keyId: "ffffffff", signature: Buffer.alloc(5_000) },
    { name: "a", keyId: "ffffffff", signature: Buffer.of(0) },
  ];
  const note = log.note() + others.map(formatSignatureLine).join("");
  const verdict = firstVerdict({ data: Buffer.from(note), verifierKeys: [logKeyText] });
  expect(verdict).toEqual({ ok: true, signers: [{ name, time: null }] });
});

describe("refuses a note, for there must be", () => {
  test.each(refusedNotes)("%s", (_, text, reason) => {
    expectRefused(text, reason);
  });
});

describe("refuses a verifier key, for there must be", () => {
  test.each(refusedKeys)("%s", (_, key, reason) => {
    const { ok, finding } = firstVerdict({ verifierKeys: [key.toString()] });
    expect(ok).toBe(false);
    expect(finding).toMatch(reason);
  });
});

test("writes a verifier key as it was read", () => {
  const key = formatVerifierKey(log.signer.verifierKey);
  expect(formatVerifierKey(parseVerifierKey(key))).toBe(key);
});

test.each(ed25519)("Ed25519: $why", ({ text, publicKey, signature, valid }) => {
  const key = Buffer.from(publicKey, "hex");
  expect(isEd25519Signature(text, Buffer.from(signature, "hex"), key)).toBe(valid);
});

test("Ed25519: a signature has 64 bytes, a key 32", () => {
  const { publicKey } = log.signer.verifierKey;
  const signature = log.signer.signBytes("text");
  expect(isEd25519Signature("text", signature, publicKey)).toBe(true);
  expect(isEd25519Signature("texts", signature, publicKey)).toBe(false);
  const longer = (bytes: Buffer) => Buffer.concat([bytes, Buffer.of(0)]);
  expect(isEd25519Signature("text", signature.subarray(1), publicKey)).toBe(false);
  expect(isEd25519Signature("text", longer(signature), publicKey)).toBe(false);
  expect(isEd25519Signature("text", signature, publicKey.subarray(1))).toBe(false);
  expect(isEd25519Signature("text", signature, longer(publicKey))).toBe(false);
});
