// From when and until when a key works: the clock's window, expiry, revocation.
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Refusal } from "../../src/core/errors.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { Authenticator } from "../../src/http/authenticate.ts";
import { findApiKey, revokeApiKey } from "../../src/store/api-keys.ts";
import { deriveSecret, sign, type Credentials } from "../support/signed-request.ts";
import { serveBooks } from "../support/service.ts";
import { until } from "../support/until.ts";

const service = serveBooks();
const target = "/v1/ledgers";
const startMs = Date.parse("2026-03-01T00:00:00Z");

/** The real authenticator on the real database, with a clock that tests set. */
function authenticatorAt(
  clock: { nowMs: number },
  onQuery: (apiKey: string) => void = () => undefined,
): Authenticator {
  return new Authenticator({
    findApiKey: (apiKey) => {
      onQuery(apiKey);
      return findApiKey(service.books.pool, apiKey);
    },
    masterKeys: [service.books.masterKey],
    clockWindowSeconds: 300,
    nowMs: () => clock.nowMs,
  });
}

async function isLetIn(
  authenticator: Authenticator,
  { apiKey, apiSecret }: Credentials,
  seconds: number,
): Promise<boolean> {
  const request = { timestamp: String(seconds), method: "GET", target, body: "" };
  try {
    const caller = await authenticator.authenticate({
      ...request,
      authorization: `Bearer ${apiKey}`,
      signature: sign(apiSecret, request),
    });
    return caller.apiKey === apiKey;
  } catch (error) {
    if (error instanceof Refusal && error.problem === "unauthorized") return false;
    throw error;
  }
}

describe("the clock window", () => {
  test.each([
    [-301, false],
    [-300, true],
    [0, true],
    [300, true],
    [301, false],
  ])("at %i s from the server's clock lets in: %s", async (offset, expected) => {
    const authenticator = authenticatorAt({ nowMs: startMs + 999 });
    const seconds = startMs / 1000 + offset;
    expect(await isLetIn(authenticator, service.books.credentials, seconds)).toBe(expected);
  });
});

describe("an expiring key", () => {
  test("works up to its last millisecond and not a moment longer, though it is cached", async () => {
    const key = await service.books.createKey({ expiresAt: "2026-03-01T00:00:01.500Z" });
    const clock = { nowMs: startMs };
    const authenticator = authenticatorAt(clock);
    const seconds = startMs / 1000;
    expect(await isLetIn(authenticator, key, seconds)).toBe(true);
    clock.nowMs = startMs + 1_499;
    expect(await isLetIn(authenticator, key, seconds)).toBe(true);
    clock.nowMs = startMs + 1_500;
    expect(await isLetIn(authenticator, key, seconds)).toBe(false);
  });

  test("is refused over the wire once it has expired", async () => {
    const past = await service.books.createKey({ expiresAt: "2026-01-01T00:00:00.000Z" });
    expect((await service.send({ target, credentials: past })).status).toBe(401);
    const future = new Date(Date.now() + 3_600_000).toISOString();
    const live = await service.books.createKey({ expiresAt: future });
    expect((await service.send({ target, credentials: live })).status).toBe(200);
  });
});

describe("a revoked key", () => {
  test("stops within five seconds of the server's clock, though it is cached", async () => {
    const key = await service.books.createKey();
    const clock = { nowMs: startMs };
    const authenticator = authenticatorAt(clock);
    const seconds = startMs / 1000;
    expect(await isLetIn(authenticator, key, seconds)).toBe(true);
    await revokeApiKey(service.books.pool, key.apiKey, new Date().toISOString() as Timestamp);
    // Reading the key in between must not make it live longer.
    for (clock.nowMs = startMs; clock.nowMs < startMs + 4_900; clock.nowMs += 100) {
      await isLetIn(authenticator, key, seconds);
    }
    clock.nowMs = startMs + 4_900;
    expect(await isLetIn(authenticator, key, seconds)).toBe(false);
  });

  test("is refused over the wire, and stays refused", async () => {
    const key = await service.books.createKey();
    expect((await service.send({ target, credentials: key })).status).toBe(200);
    await revokeApiKey(service.books.pool, key.apiKey, new Date().toISOString() as Timestamp);
    await until(
      "a refusal",
      async () => (await service.send({ target, credentials: key })).status === 401,
    );
    expect((await service.send({ target, credentials: key })).status).toBe(401);
  });

  test("leaves the organization's other keys alone", async () => {
    const [old, next] = [await service.books.createKey(), await service.books.createKey()];
    await revokeApiKey(service.books.pool, old.apiKey, new Date().toISOString() as Timestamp);
    expect((await service.send({ target, credentials: old })).status).toBe(401);
    expect((await service.send({ target, credentials: next })).status).toBe(200);
  });
});

describe("a signature that does not match", () => {
  test("takes the same steps whether the key is unknown, known, cached or revoked", async () => {
    const clock = { nowMs: startMs };
    const asked: string[] = [];
    const authenticator = authenticatorAt(clock, (apiKey) => asked.push(apiKey));
    const seconds = startMs / 1000;
    const isRefused = async ({ apiKey }: Credentials) =>
      !(await isLetIn(authenticator, { apiKey, apiSecret: "ls_wrong" }, seconds));

    const key = await service.books.createKey();
    const revoked = await service.books.createKey();
    const revokedAt = new Date().toISOString() as Timestamp;
    await revokeApiKey(service.books.pool, revoked.apiKey, revokedAt);
    const unknown = { apiKey: `lk_${randomBytes(16).toString("base64url")}`, apiSecret: "" };
    for (const each of [unknown, key, revoked]) expect(await isRefused(each)).toBe(true);
    expect(asked).toEqual([]);

    expect(await isLetIn(authenticator, key, seconds)).toBe(true);
    expect(asked).toEqual([key.apiKey]);
    for (const afterMs of [0, 10_000]) {
      clock.nowMs = startMs + afterMs;
      for (const each of [unknown, key, revoked]) expect(await isRefused(each)).toBe(true);
    }
    expect(asked).toEqual([key.apiKey]);
  });
});

describe("a new key", () => {
  test("works at once, even after it was asked for in vain", async () => {
    const apiKey = `lk_${randomBytes(16).toString("base64url")}`;
    const credentials = { apiKey, apiSecret: deriveSecret(service.books.masterKey, apiKey) };
    expect((await service.send({ target, credentials })).status).toBe(401);
    const made = await service.books.createKey();
    expect((await service.send({ target, credentials: made })).status).toBe(200);
  });

  test("has the secret that the contract derives from the master key", async () => {
    const { apiKey, apiSecret } = await service.books.createKey();
    expect(apiSecret).toBe(deriveSecret(service.books.masterKey, apiKey));
    expect(apiSecret).toMatch(/^ls_[A-Za-z0-9_-]{43}$/);
    expect(apiKey).toMatch(/^lk_[A-Za-z0-9_-]{22,}$/);
  });

  test("is refused where the server lacks the master key that it was made with", async () => {
    const foreign = await service.books.createKey({ masterKey: randomBytes(32) });
    expect((await service.send({ target, credentials: foreign })).status).toBe(401);
  });
});

test("keys of two organizations see their own ledgers only", async () => {
  const organizationId = await service.books.createOrganization();
  const other = await service.books.createKey({ organizationId });
  const ledgerId = await service.books.createLedger({ organizationId });
  const ids = async (credentials: Credentials) => {
    const { body } = await service.send({ target, credentials });
    return (body as { ledgers: { id: string }[] }).ledgers.map(({ id }) => id);
  };
  expect(await ids(other)).toEqual([ledgerId]);
  expect(await ids(service.books.credentials)).toEqual([service.books.ledgerId]);
});
