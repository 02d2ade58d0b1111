// Refusals on wallet paths: always `{ error }`, whatever refuses; which one comes first; who may do what.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { serveBooks } from "../support/service.ts";
import type { Credentials } from "../support/signed-request.ts";
import {
  accepted,
  expectDuplicate,
  expectFigures,
  hold,
  move,
  movement,
  newKey,
  readWalletLog,
  refusal,
  resolve,
  walletPath,
} from "../support/wallets.ts";

const service = serveBooks();
const big = "x".repeat(1024 * 1024 + 1);
const wrongType = { "content-type": "text/plain" };
const wrongSecret = `ls_${"A".repeat(43)}`;
let readOnly: Credentials;

beforeAll(async () => {
  readOnly = await service.books.createKey({ scopes: ["read"] });
});

/** Paths of writes to a wallet, each with a body that is well-formed. */
function writes(walletKey: string): [path: string, body: unknown][] {
  const holdPath = `holds/${randomUUID()}`;
  return [
    [walletPath(walletKey, "credit"), movement()],
    [walletPath(walletKey, "debit"), movement()],
    [walletPath(walletKey, "reserve"), movement()],
    [walletPath(walletKey, `${holdPath}/commit`), { amount: "1" }],
    [walletPath(walletKey, `${holdPath}/release`), {}],
  ];
}

describe("a wallet path", () => {
  test.each([
    "/v1/wallets/",
    "/v1/wallets/x",
    "/v1/wallets/x/",
    "/v1/wallets/x/nothing",
    "/v1/wallets/x/credit/",
    "/v1/wallets/x/credit/y",
    "/v1/wallets/x/holds",
    "/v1/wallets/x/holds/y",
    "/v1/wallets/x/holds/y/other",
    "/v1/wallets/a:b/Balance",
    "/v1/wallets/%zz/balance",
  ])("that is unknown (%s) is 404, without a signature too", async (target) => {
    for (const method of ["GET", "POST", "DELETE"]) {
      refusal(await service.send({ target, method, credentials: null }), 404);
    }
    refusal(await service.send({ target, body: big }), 404);
  });

  test.each(["/v1/%77allets/", "/%761/wallets/", "/v1/%77allet%73/"])(
    "is known by what it means, not by how it is written: %s",
    async (prefix) => {
      const key = newKey(service);
      refusal(await service.send({ target: `${prefix}${key}/balance`, credentials: null }), 401);
      refusal(await service.get(`${prefix}${key}/nothing`), 404);
      refusal(await service.get(`${prefix}%zz/balance`), 404);
      expect((await service.get(`${prefix}${key}/balance`)).status).toBe(200);
    },
  );

  test("asked with another method is 405 with Allow", async () => {
    const key = newKey(service);
    const ask = async (rest: string, method: string, allow: string) => {
      const target = walletPath(key, rest);
      const reply = await service.send({ target, method, credentials: null });
      if (method !== "HEAD") refusal(reply, 405);
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).toBe(allow);
    };
    for (const rest of ["credit", "debit", "reserve", "holds/x/commit", "holds/x/release"]) {
      for (const method of ["GET", "PUT", "DELETE", "PATCH", "HEAD"])
        await ask(rest, method, "POST");
    }
    for (const rest of ["balance", "history", "ws"]) {
      for (const method of ["POST", "PUT", "DELETE", "HEAD"]) await ask(rest, method, "GET");
    }
  });

  test("answers its own shape to bodies too large or of another type", async () => {
    for (const [target, body] of writes(newKey(service))) {
      refusal(await service.send({ target, body: big }), 413);
      const undeclared = { target, body: JSON.stringify(body), headers: wrongType };
      refusal(await service.send(undeclared), 415);
    }
  });

  test("answers its own shape to credentials that are missing or wrong", async () => {
    const key = newKey(service);
    const reads = ["balance", "history", "ws"].map((rest) => walletPath(key, rest));
    const { apiKey, apiSecret } = service.books.credentials;
    const all = [...reads, ...writes(key).map(([path]) => path)];
    for (const [index, target] of all.entries()) {
      const method = index < reads.length ? "GET" : "POST";
      const replies = [
        await service.send({ target, method, credentials: null }),
        await service.send({ target, method, credentials: { apiKey, apiSecret: wrongSecret } }),
        await service.send({ target, method, timestamp: "1" }),
        await service.send({ target, method, credentials: { apiKey: "lk_x", apiSecret } }),
      ];
      for (const reply of replies) {
        refusal(reply, 401);
        expect(reply.headers["www-authenticate"]).toBe("Bearer");
        expect(reply.body).toEqual(replies[0]?.body);
      }
    }
  });

  test("tells nothing but the message in a header or elsewhere", async () => {
    const reply = await move(service, newKey(service), "debit", 5);
    expect(refusal(reply, 422)).toBe("the amount is more than is available");
  });
});

describe("what comes first", () => {
  test("the signature, before ledger, scope, media type and shape", async () => {
    for (const target of [`/v1/wallets/${randomUUID()}:x/credit`, "/v1/wallets/no-colon/credit"]) {
      const reply = await service.send({
        target,
        body: "{",
        headers: wrongType,
        credentials: { apiKey: readOnly.apiKey, apiSecret: wrongSecret },
      });
      refusal(reply, 401);
    }
  });

  test("the size, before the signature", async () => {
    const target = walletPath(newKey(service), "credit");
    refusal(await service.send({ target, body: big, credentials: null }), 413);
  });

  test("the ledger, before scope, media type and shape", async () => {
    for (const [target] of writes(`${randomUUID()}:x`)) {
      const request = { target, body: "{", headers: wrongType, credentials: readOnly };
      refusal(await service.send(request), 404);
    }
  });

  test("the scope, before media type, key and shape", async () => {
    for (const key of [newKey(service), `${service.books.ledgerId}:`, "no-colon"]) {
      for (const [target] of writes(key)) {
        const request = { target, body: "{", headers: wrongType, credentials: readOnly };
        refusal(await service.send(request), 403);
      }
    }
  });

  test("the shape, before a hold that is unknown", async () => {
    const key = newKey(service);
    for (const holdId of [randomUUID(), "no-uuid"]) {
      refusal(await resolve(service, key, holdId, "commit", { amount: "0" }), 400);
      refusal(await resolve(service, key, holdId, "commit", { amuont: "1" }), 400);
      refusal(await resolve(service, key, holdId, "release", { amount: "1" }), 400);
      refusal(await resolve(service, key, holdId, "commit", { amount: "1" }), 404);
      refusal(await resolve(service, key, holdId, "release"), 404);
    }
  });

  test("the asset, before what is available", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 1));
    refusal(await move(service, key, "debit", 100, { assetCode: "EUR" }), 400);
    refusal(await move(service, key, "reserve", 100, { assetCode: "EUR" }), 400);
  });
});

describe.each(["suspended", "closed"] as const)("on a ledger that is %s", (status) => {
  let key: string;
  let unresolved: string;
  let committed: string;
  let released: string;

  beforeAll(async () => {
    const ledgerId = await service.books.createLedger();
    key = newKey(service, ledgerId);
    accepted(await move(service, key, "credit", 100, { externalId: "credit" }));
    accepted(await move(service, key, "debit", 10, { externalId: "debit" }));
    unresolved = await hold(service, key, 5, { externalId: "reserve" });
    committed = await hold(service, key, 6);
    released = await hold(service, key, 7);
    accepted(await resolve(service, key, committed, "commit"));
    accepted(await resolve(service, key, released, "release"));
    await service.books.changeStatus(ledgerId, status);
  });

  test("every write is 403, before asset, figures and holds", async () => {
    for (const verb of ["credit", "debit", "reserve"] as const) {
      refusal(await move(service, key, verb, 1), 403);
      refusal(await move(service, key, verb, 10_000, { assetCode: "EUR" }), 403);
      refusal(await move(service, newKey(service, key.slice(0, 36)), verb, 1), 403);
    }
    for (const holdId of [unresolved, randomUUID(), "no-uuid"]) {
      refusal(await resolve(service, key, holdId, "commit"), 403);
      refusal(await resolve(service, key, holdId, "release"), 403);
    }
  });

  test("the shape still comes before the state", async () => {
    refusal(await move(service, key, "credit", 0), 400);
  });

  test("a retry of what got in is still told so", async () => {
    for (const externalId of ["credit", "debit", "reserve"]) {
      for (const verb of ["credit", "debit", "reserve"] as const) {
        const reply = await move(service, key, verb, 1, { externalId, assetCode: "EUR" });
        expectDuplicate(reply, "84", "79");
      }
    }
    const again = await move(service, key, "reserve", 5, { externalId: "reserve" });
    expect(again.body).toMatchObject({ holdId: unresolved });
    expectDuplicate(await resolve(service, key, committed, "commit"), "84", "79");
    expectDuplicate(await resolve(service, key, released, "release"), "84", "79");
  });

  test("reads go on, and nothing was written", async () => {
    await expectFigures(service, key, 84, 79);
    expect(await readWalletLog(service, key)).toHaveLength(7);
  });
});

describe("a key with fewer scopes", () => {
  test("reads wallets with `read` and writes nothing", async () => {
    const key = newKey(service);
    for (const rest of ["balance", "history"]) {
      const target = walletPath(key, rest);
      expect((await service.send({ target, credentials: readOnly })).status).toBe(200);
    }
    const stream = { target: walletPath(key, "ws"), credentials: readOnly };
    refusal(await service.send(stream), 426);
    for (const [target, body] of writes(key)) {
      const request = { target, body: JSON.stringify(body), credentials: readOnly };
      const error = refusal(await service.send(request), 403);
      expect(error).toBe("the API key lacks the scope wallets:write");
    }
    expect(await readWalletLog(service, key)).toEqual([]);
  });

  test("writes wallets with `wallets:write` and reads nothing", async () => {
    const credentials = await service.books.createKey({ scopes: ["wallets:write"] });
    const key = newKey(service);
    const target = walletPath(key, "credit");
    const reply = await service.send({ target, body: JSON.stringify(movement()), credentials });
    accepted(reply);
    for (const rest of ["balance", "history", "ws"]) {
      refusal(await service.send({ target: walletPath(key, rest), credentials }), 403);
    }
  });

  test.each(["entries:write", "periods:close"] as const)(
    "can't do anything with wallets with `%s` alone",
    async (scope) => {
      const credentials = await service.books.createKey({ scopes: [scope] });
      const key = newKey(service);
      for (const [target, body] of writes(key)) {
        refusal(await service.send({ target, body: JSON.stringify(body), credentials }), 403);
      }
      refusal(await service.send({ target: walletPath(key, "balance"), credentials }), 403);
    },
  );
});
