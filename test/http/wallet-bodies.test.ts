// The shape of wallet writes: amounts, asset codes, metadata, members. Each refusal is 400 in one message.
import { describe, expect, test } from "vitest";
import { serveBooks } from "../support/service.ts";
import {
  accepted,
  expectFigures,
  move,
  movement,
  newKey,
  readWalletLog,
  refusal,
  walletPath,
} from "../support/wallets.ts";

const service = serveBooks();
const verbs = ["credit", "debit", "reserve"] as const;

describe("an amount", () => {
  test.each([
    ["missing", undefined],
    ["null", null],
    ["a number", 100],
    ["zero", "0"],
    ["negative", "-1"],
    ["with a plus", "+1"],
    ["with a leading zero", "01"],
    ["with decimals", "1.0"],
    ["with an exponent", "1e3"],
    ["with a space before", " 1"],
    ["with a space behind", "1 "],
    ["with a line end behind", "1\n"],
    ["empty", ""],
    ["hexadecimal", "0x10"],
    ["with separators", "1_000"],
    ["in other digits", "١٢"],
    ["of 39 digits", "1".padEnd(39, "0")],
    ["a list", ["1"]],
    ["true", true],
  ])("that is %s is refused", async (_, amount) => {
    const key = newKey(service);
    for (const verb of verbs) {
      const reply = await service.post(walletPath(key, verb), { assetCode: "USD", amount });
      expect(refusal(reply, 400)).toMatch(/^amount /);
    }
    expect(await readWalletLog(service, key)).toEqual([]);
  });

  test("may have 38 digits", async () => {
    const key = newKey(service);
    const most = 10n ** 38n - 1n;
    accepted(await move(service, key, "credit", most));
    accepted(await move(service, key, "debit", most - 1n));
    await expectFigures(service, key, 1);
  });
});

describe("an asset code", () => {
  test.each([
    undefined,
    null,
    "",
    "a".repeat(33),
    "with space",
    "ü",
    "US D",
    "USD\n",
    "a,b",
    "a%b",
    840,
    ["USD"],
  ])("%j is refused", async (assetCode) => {
    const key = newKey(service);
    for (const verb of verbs) {
      const reply = await service.post(walletPath(key, verb), { amount: "1", assetCode });
      expect(refusal(reply, 400)).toMatch(/^assetCode /);
    }
  });

  test.each(["usd", "UsD", "USD"])("%s is the currency USD, whatever its case", async (code) => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 1));
    accepted(await move(service, key, "credit", 1, { assetCode: code }));
    await expectFigures(service, key, 2);
  });

  test("that is no currency keeps its case", async () => {
    const key = newKey(service);
    const assetCode = "Call-Count_1.0:a/B";
    accepted(await move(service, key, "credit", 1, { assetCode }));
    refusal(await move(service, key, "credit", 1, { assetCode: assetCode.toLowerCase() }), 400);
    accepted(await move(service, key, "credit", 1, { assetCode }));
  });

  test("may have 32 characters", async () => {
    accepted(await move(service, newKey(service), "credit", 1, { assetCode: "a".repeat(32) }));
  });
});

describe("metadata", () => {
  const kept = async (metadata: unknown) => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 1, { metadata }));
    const [row] = await readWalletLog(service, key);
    return (row as unknown as { metadata: unknown }).metadata;
  };

  test.each([
    ["JSON", '{"a": 1.10, "b": [null]}'],
    ["no JSON", "{not json"],
    ["empty", ""],
    ["spaces", "  \n\t "],
    ["control characters", "\u0001\u007f\u0085"],
    ["any script", "日本語 😀 \u00e9 e\u0301 \u202e"],
    ["64 KiB", "é".repeat(32 * 1024)],
  ])("that is %s comes back as it was sent", async (_, metadata) => {
    expect(await kept(metadata)).toBe(metadata);
  });

  test("that is null or left out is null", async () => {
    expect(await kept(null)).toBeNull();
    expect(await kept(undefined)).toBeNull();
  });

  test.each([
    ["over 64 KiB of ASCII", "a".repeat(64 * 1024 + 1)],
    ["over 64 KiB in UTF-8 alone", "é".repeat(32 * 1024 + 1)],
    ["with a NUL", "a\0b"],
    ["an object", { a: 1 }],
    ["a number", 1],
    ["a list", []],
    ["false", false],
  ])("that is %s is refused", async (_, metadata) => {
    const key = newKey(service);
    for (const verb of verbs) {
      const reply = await move(service, key, verb, 1, { metadata });
      expect(refusal(reply, 400)).toMatch(/^metadata /);
    }
  });

  test.each([String.raw`"\ud800"`, String.raw`"a\udc00b"`, String.raw`"\udc00\ud800"`])(
    "with a lone surrogate (%s) is refused",
    async (json) => {
      const body = `{"amount":"1","assetCode":"USD","metadata":${json}}`;
      const reply = await service.post(walletPath(newKey(service), "credit"), body);
      expect(refusal(reply, 400)).toBe("metadata must not contain a lone surrogate");
    },
  );

  test("with a surrogate pair in escapes is the character", async () => {
    const key = newKey(service);
    const body = String.raw`{"amount":"1","assetCode":"USD","metadata":"\ud83d\ude00"}`;
    accepted(await service.post(walletPath(key, "credit"), body));
    const [row] = await readWalletLog(service, key);
    expect(row).toMatchObject({ metadata: "😀" });
  });
});

describe("a body", () => {
  test.each([
    ["externalID", "a misspelt externalId"],
    ["expiresInSeconds", "a member of reservations"],
    ["holdId", "a member of replies"],
    ["callerKey", "a member of bulk writes"],
    ["__proto__", "a member of prototypes"],
  ])("with the unknown member %s (%s) is refused", async (member) => {
    const key = newKey(service);
    for (const verb of ["credit", "debit"] as const) {
      const body = `{"amount":"1","assetCode":"USD","${member}":"x"}`;
      const error = refusal(await service.post(walletPath(key, verb), body), 400);
      expect(error).toContain(member);
    }
    expect(await readWalletLog(service, key)).toEqual([]);
  });

  test("with an unknown member is refused even where its externalId is known", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 1, { externalId: "known" }));
    refusal(await move(service, key, "credit", 1, { externalId: "known", extra: 1 }), 400);
    refusal(await move(service, key, "credit", 1, { externalId: "known", amount: "0" }), 400);
  });

  test.each([
    ["no body", undefined],
    ["an empty one", ""],
    ["null", "null"],
    ["a list", "[]"],
    ["a string", '"x"'],
    ["a number", "1"],
    ["an empty object", "{}"],
    ["half an object", '{"amount":"1",'],
    ["two objects", `${JSON.stringify(movement())}{}`],
    ["no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
  ])("that is %s is refused", async (_, body) => {
    for (const verb of verbs) {
      refusal(await service.post(walletPath(newKey(service), verb), body), 400);
    }
  });

  test("has all its faults told in one message", async () => {
    const body = { amount: "0", assetCode: "", metadata: 7, externalId: "" };
    const error = refusal(await service.post(walletPath(newKey(service), "credit"), body), 400);
    for (const member of ["amount", "assetCode", "metadata", "externalId"]) {
      expect(error).toContain(`${member} must`);
    }
  });

  test("with a member twice has the last one", async () => {
    const key = newKey(service);
    const body = '{"amount":"1","amount":"5","assetCode":"USD"}';
    expect(accepted(await service.post(walletPath(key, "credit"), body)).balance).toBe("5");
  });
});
