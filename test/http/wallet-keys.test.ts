// Keys of wallets: `{ledgerId}:{callerKey}`, split at the first colon after one percent-decoding.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { serveBooks } from "../support/service.ts";
import { movement, readFigures, refusal } from "../support/wallets.ts";

const service = serveBooks();
let ledgerId: string;

beforeAll(() => {
  ({ ledgerId } = service.books);
});

/** Credits under a raw path segment; the balance tells whether two segments are one wallet. */
async function credit(segment: string): Promise<string> {
  const reply = await service.post(`/v1/wallets/${segment}/credit`, movement(1));
  expect(reply.status, reply.text).toBe(200);
  return (reply.body as { balance: string }).balance;
}

/** Every way to ask for a wallet, with a raw path segment. */
async function askAll(segment: string) {
  const path = `/v1/wallets/${segment}`;
  const holdPath = `${path}/holds/${randomUUID()}`;
  return Promise.all([
    service.get(`${path}/balance`),
    service.get(`${path}/history`),
    service.get(`${path}/ws`),
    service.post(`${path}/credit`, movement()),
    service.post(`${path}/debit`, movement()),
    service.post(`${path}/reserve`, movement()),
    service.post(`${holdPath}/commit`),
    service.post(`${holdPath}/release`),
  ]);
}

describe("a caller key", () => {
  test.each([
    ["a colon", "a:b", "a%3Ab"],
    ["only colons", ":", "%3A"],
    ["letters", "abc", "%61%62%63"],
    ["an umlaut", "%C3%BC", "%c3%bc"],
    ["a space", "%20", "%20"],
    ["a plus, which is itself", "+", "%2B"],
    ["marks of URLs", "a;b=c@d,e", "a%3Bb%3Dc%40d%2Ce"],
  ])("with %s is one wallet however it is escaped", async (_, plain, escaped) => {
    expect(await credit(`${ledgerId}:${plain}`)).toBe("1");
    expect(await credit(`${ledgerId}:${escaped}`)).toBe("2");
    expect(await credit(`${ledgerId}%3A${escaped}`)).toBe("3");
    expect(await credit(`${ledgerId.toUpperCase()}:${plain}`)).toBe("4");
  });

  test("is decoded once, not twice", async () => {
    expect(await credit(`${ledgerId}:%2561`)).toBe("1");
    expect(await credit(`${ledgerId}:a`)).toBe("1");
    expect(await credit(`${ledgerId}:%252F`)).toBe("1");
    expect(await credit(`${ledgerId}:%2F`)).toBe("1");
    expect(await credit(`${ledgerId}:%2525`)).toBe("1");
    expect(await credit(`${ledgerId}:%25`)).toBe("1");
    const { balance } = await readFigures(service, `${ledgerId}:%61`);
    expect(balance).toBe("1");
  });

  test("may hold slashes, question and number signs, dots, when they are escaped", async () => {
    for (const name of ["a/b", "a?b", "a#b", "..", "a/../b", "/balance", "%%", "a\\b", '"']) {
      expect(await credit(`${ledgerId}:${encodeURIComponent(name)}`), name).toBe("1");
      const { balance } = await readFigures(service, `${ledgerId}:${name}`);
      expect(balance).toBe("1");
    }
  });

  test("compares byte for byte: case, composition and spaces count", async () => {
    for (const name of ["k", "K", "\u00e9", "e\u0301", "k ", " k"]) {
      expect(await credit(`${ledgerId}:${encodeURIComponent(name)}`), name).toBe("1");
    }
  });

  test.each([
    ["letters", "a"],
    ["characters beyond the first plane", "😀"],
  ])("may have 256 %s and not 257", async (_, character) => {
    const key = (length: number) => `${ledgerId}:${encodeURIComponent(character.repeat(length))}`;
    expect(await credit(key(256))).toBe("1");
    for (const reply of await askAll(key(257))) {
      expect(refusal(reply, 400)).toContain("at most 256");
    }
  });

  test.each(["%00", "%0A", "%1F", "%7F", "%C2%80", "%C2%9F", "a%09b"])(
    "with the control character %s is refused",
    async (escape) => {
      for (const reply of await askAll(`${ledgerId}:${escape}`)) {
        expect(refusal(reply, 400)).toContain("control characters");
      }
    },
  );

  test("that is empty is 400", async () => {
    for (const reply of await askAll(`${ledgerId}:`)) {
      expect(refusal(reply, 400)).toMatch(/; callerKey must not be empty$/);
    }
  });

  test.each(["%", "%2", "%zz", "%C3", "%FF", "%ED%A0%80", "%C0%80"])(
    "with the broken escape %s names nothing",
    async (escape) => {
      for (const reply of await askAll(`${ledgerId}:${escape}`)) refusal(reply, 404);
    },
  );
});

describe("a wallet key", () => {
  test.each(["no-colon", "7", "", randomUUID()])("without a colon (%s) is 400", async (segment) => {
    for (const reply of await askAll(segment)) {
      expect(refusal(reply, 400)).toMatch(
        /must be \{ledgerId\}:\{callerKey\}; this one has no colon$/,
      );
    }
  });

  test.each([
    ["no UUID", "no-uuid:x"],
    ["empty", ":x"],
    ["a UUID in braces", `%7B${randomUUID()}%7D:x`],
    ["a UUID without dashes", `${randomUUID().replaceAll("-", "")}:x`],
    ["unknown", `${randomUUID()}:x`],
  ])("whose ledger is %s is 404", async (_, segment) => {
    for (const reply of await askAll(segment)) {
      expect(refusal(reply, 404)).toBe("there is no such ledger");
    }
  });

  test("of another organization's ledger is 404, and nothing is written there", async () => {
    const organizationId = await service.books.createOrganization();
    const foreign = await service.books.createLedger({ organizationId });
    for (const reply of await askAll(`${foreign}:x`)) {
      expect(refusal(reply, 404)).toBe("there is no such ledger");
    }
    const credentials = await service.books.createKey({ organizationId });
    const target = `/v1/wallets/${foreign}:x/balance`;
    const reply = await service.send({ target, credentials });
    expect(reply.body).toEqual({ balance: "0", available: "0" });
  });

  test("of an unknown ledger is 404 even where the caller key is faulty", async () => {
    for (const reply of await askAll(`${randomUUID()}:`)) refusal(reply, 404);
    for (const reply of await askAll(`${randomUUID()}:%00`)) refusal(reply, 404);
  });
});
