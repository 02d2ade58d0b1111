// Signatures, API keys, their secrets, and the window of timestamps.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  apiKeyFromRandom,
  deriveApiSecret,
  isApiKey,
  isTimestampInWindow,
  masterKeyFingerprint,
  parseMasterKey,
  SigningKey,
  signRequest,
} from "../../src/core/signing.ts";
import { deriveSecret, sign } from "../support/signed-request.ts";

interface SigningVectors {
  secret: string;
  cases: {
    name: string;
    timestamp: string;
    method: string;
    target: string;
    body: string;
    signature: string;
  }[];
  derivation: { masterKeyBase64: string; apiKey: string; secret: string };
}

const vectors = JSON.parse(
  readFileSync(new URL("../vectors/signing.json", import.meta.url), "utf8"),
) as SigningVectors;

const signingKey = new SigningKey(vectors.secret);

describe("signatures", () => {
  test.each(vectors.cases)("agree with the vector '$name'", ({ signature, ...request }) => {
    expect(signRequest(vectors.secret, request).toString("hex")).toBe(signature);
    expect(sign(vectors.secret, request)).toBe(signature);
    expect(signingKey.isValid(request, signature)).toBe(true);
    expect(signingKey.isValid(request, signature.toUpperCase())).toBe(true);
  });

  test.each(["timestamp", "method", "target", "body"] as const)(
    "do not survive a change of the %s",
    (member) => {
      for (const { signature, ...request } of vectors.cases) {
        const changed = { ...request, [member]: `${request[member]}0` };
        expect(signingKey.isValid(changed, signature)).toBe(false);
      }
    },
  );

  test("are refused when they are not 64 hex digits", () => {
    const [first] = vectors.cases;
    if (first === undefined) throw new Error("there are vectors");
    const { signature, ...request } = first;
    for (const broken of [
      "",
      signature.slice(1),
      signature.slice(2),
      `${signature}00`,
      `${signature}\n`,
      ` ${signature}`,
      `0x${signature.slice(2)}`,
      signature.replace(/.$/, "g"),
    ]) {
      expect(signingKey.isValid(request, broken), broken).toBe(false);
    }
  });

  test("cover bytes that are no UTF-8 as they are", () => {
    const request = {
      timestamp: "1",
      method: "POST",
      target: "/",
      body: Buffer.from([0xff, 0x00]),
    };
    const text = { ...request, body: request.body.toString("utf8") };
    expect(signRequest("ls_x", request).toString("hex")).toBe(sign("ls_x", request));
    expect(signRequest("ls_x", text)).not.toEqual(signRequest("ls_x", request));
  });

  test("are checked as they are made, whatever is signed and however long it is", () => {
    const text = fc.string({ unit: "binary", maxLength: 100 });
    const long = fc.nat({ max: 10_000 }).map((length) => "ä".repeat(length));
    const bytes = fc.uint8Array({ maxLength: 10_000 });
    fc.assert(
      fc.property(
        fc.oneof(text, long),
        fc.record({
          timestamp: fc.nat().map(String),
          method: fc.constantFrom("GET", "POST"),
          target: fc.oneof(text, long),
          body: fc.oneof(text, long, bytes),
        }),
        fc.nat({ max: 63 }),
        (secret, request, place) => {
          const signature = createHmac("sha256", secret)
            .update(`${request.timestamp}\n${request.method}\n${request.target}\n`)
            .update(request.body)
            .digest("hex");
          const key = new SigningKey(secret);
          expect(key.isValid(request, signature)).toBe(true);
          expect(key.isValid(request, signature.toUpperCase())).toBe(true);
          const digit = signature[place] === "0" ? "1" : "0";
          const wrong = signature.slice(0, place) + digit + signature.slice(place + 1);
          expect(key.isValid(request, wrong)).toBe(false);
        },
      ),
    );
  });
});

describe("secrets", () => {
  test("are derived from the master key as the vector says", () => {
    const { masterKeyBase64, apiKey, secret } = vectors.derivation;
    const masterKey = parseMasterKey(masterKeyBase64);
    expect(masterKey).toHaveLength(32);
    expect(deriveApiSecret(masterKey ?? Buffer.alloc(0), apiKey)).toBe(secret);
    expect(deriveSecret(Buffer.from(masterKeyBase64, "base64"), apiKey)).toBe(secret);
  });

  test("differ by key and by master key", () => {
    const one = Buffer.alloc(32, 1);
    const two = Buffer.alloc(32, 2);
    const secrets = [
      deriveApiSecret(one, "lk_a"),
      deriveApiSecret(one, "lk_b"),
      deriveApiSecret(two, "lk_a"),
    ];
    expect(new Set(secrets).size).toBe(3);
    expect(masterKeyFingerprint(one)).not.toBe(masterKeyFingerprint(two));
    expect(masterKeyFingerprint(one)).toMatch(/^[0-9a-f]{16}$/);
  });

  test("need a master key of exactly 32 bytes in base64", () => {
    for (const bytes of [0, 16, 31, 33, 64]) {
      expect(parseMasterKey(Buffer.alloc(bytes).toString("base64")), `${bytes} bytes`).toBeNull();
    }
    expect(parseMasterKey(Buffer.alloc(32, 255).toString("base64url"))).toBeNull();
    expect(parseMasterKey(`${Buffer.alloc(32, 255).toString("base64")}\n`)).toHaveLength(32);
  });
});

describe("API keys", () => {
  test("are lk_ and 22 URL-safe characters", () => {
    const apiKey = apiKeyFromRandom(Buffer.alloc(16, 0xfb));
    expect(apiKey).toMatch(/^lk_[A-Za-z0-9_-]{22}$/);
    expect(isApiKey(apiKey)).toBe(true);
  });

  test.each([
    "",
    "lk_",
    "lk_012345678901234567890",
    "ls_0123456789012345678901",
    "lk_0123456789012345678901+",
  ])("are not '%s'", (text) => {
    expect(isApiKey(text)).toBe(false);
  });
});

describe("timestamps of requests", () => {
  const nowMs = 1_767_225_600_999;

  test.each([
    ["the server's second", 0, true],
    ["the earliest", -300, true],
    ["the latest", 300, true],
    ["one second too early", -301, false],
    ["one second too late", 301, false],
  ])("are held to the window: %s", (_, offset, isIn) => {
    expect(isTimestampInWindow(String(1_767_225_600 + offset), nowMs, 300)).toBe(isIn);
  });

  test.each([
    "",
    " 1767225600",
    "1767225600 ",
    "+1767225600",
    "1767225600.0",
    "1.7672256e9",
    "0x6955b900",
    "١٧٦٧٢٢٥٦٠٠",
    "17672256000000000",
  ])("are digits and nothing else: '%s'", (timestamp) => {
    expect(isTimestampInWindow(timestamp, nowMs, 300)).toBe(false);
  });
});
