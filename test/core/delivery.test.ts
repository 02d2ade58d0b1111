// Deliveries: cursors, signatures and waiting, against node:crypto used by hand.
import { createHmac, hkdfSync } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  deliveryWaitMs,
  deriveDeliverySecret,
  formatCursor,
  parseCursor,
  signatureTime,
  signDelivery,
} from "../../src/core/delivery.ts";

test("the secret is derived from the master key and the id as the contract has it", () => {
  const masterKey = Buffer.alloc(32, 7);
  const id = "01a20868-23e4-73c8-b9da-f06b86d21fd9";
  const info = Buffer.from(`ledgerctl/delivery-secret/v1/${id}`);
  const bytes = Buffer.from(hkdfSync("sha256", masterKey, Buffer.alloc(0), info, 32));
  expect(deriveDeliverySecret(masterKey, id)).toBe(`ds_${bytes.toString("base64url")}`);
});

describe("a signature", () => {
  const signature = signDelivery("ds_secret", 1_767_225_600, '{"a":"é"}');

  test("is the HMAC of time and body, keyed with the whole secret", () => {
    const hmac = createHmac("sha256", "ds_secret").update('1767225600.{"a":"é"}').digest("hex");
    expect(signature).toBe(`t=1767225600,v1=${hmac}`);
    expect(signatureTime("ds_secret", signature, Buffer.from('{"a":"é"}'))).toBe(1_767_225_600);
  });

  test.each([
    ["another secret", "ds_other", signature, '{"a":"é"}'],
    ["another body", "ds_secret", signature, '{"a":"e"}'],
    ["another time", "ds_secret", signature.replace("t=1", "t=2"), '{"a":"é"}'],
    ["no header", "ds_secret", "", '{"a":"é"}'],
    ["something behind it", "ds_secret", `${signature},v1=00`, '{"a":"é"}'],
    ["upper case", "ds_secret", signature.toUpperCase(), '{"a":"é"}'],
  ])("is refused with %s", (_, secret, given, body) => {
    expect(signatureTime(secret, given, body)).toBeNull();
  });
});

test("a cursor that was written is read back, and nothing else is read", () => {
  const number = fc.integer({ min: 0, max: 1e15 - 1 });
  fc.assert(
    fc.property(number, number, (sequence, closeNumber) => {
      const place = { sequence, closeNumber };
      expect(parseCursor(formatCursor(place))).toEqual(place);
    }),
  );
  for (const text of [
    "",
    "1",
    "1.",
    ".1",
    "1.1.1",
    "-1.0",
    "1.0 ",
    "1e3.0",
    "1".repeat(16) + ".0",
  ]) {
    expect(parseCursor(text)).toBeNull();
  }
});

test("waits double up to five minutes, and are cut by up to a half", () => {
  expect([0, 1, 2, 8].map((failures) => deliveryWaitMs(failures, 0))).toEqual([
    1_000, 2_000, 4_000, 256_000,
  ]);
  for (const failures of [9, 10, 1_000]) expect(deliveryWaitMs(failures, 0)).toBe(300_000);
  expect(deliveryWaitMs(9, 0.999_999)).toBe(150_000);
});
