// What can be said of something that was thrown, whatever it is.
import { describe, expect, test } from "vitest";
import { errorCode, messageOf } from "../../src/core/thrown.ts";

describe("what was thrown", () => {
  test("has the message of an error, and else its text", () => {
    expect(messageOf(new Error("no space"))).toBe("no space");
    expect(messageOf("no space")).toBe("no space");
    expect(messageOf(undefined)).toBe("undefined");
  });

  test("has a code where it is an error with a text for one", () => {
    expect(errorCode(Object.assign(new Error("gone"), { code: "ENOENT" }))).toBe("ENOENT");
    expect(errorCode(Object.assign(new Error("gone"), { code: 2 }))).toBeNull();
    expect(errorCode(new Error("gone"))).toBeNull();
    expect(errorCode({ code: "ENOENT" })).toBeNull();
  });
});
