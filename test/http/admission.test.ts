// What a client that is rejected is told to wait.
import { expect, test } from "vitest";
import { retryAfterSeconds } from "../../src/http/admission.ts";

test("Retry-After is 1, 2 or 3 seconds, at random", () => {
  const values = Array.from({ length: 1_000 }, retryAfterSeconds);
  expect([...new Set(values)].sort()).toEqual(["1", "2", "3"]);
});
