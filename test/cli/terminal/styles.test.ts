// Colours and bold: what begins and ends them, and that nobody else can.
import { expect, it } from "vitest";
import { shownText, styled } from "../../../src/cli/terminal/styles.ts";

it("are what terminals know, and nothing where there are no colours", () => {
  const text = `${styled("ACCOUNT", "heading")} ${styled("ok", "good")} ${styled("FAILED", "bad")}`;
  expect(shownText(text, true)).toBe(
    "\u001b[1mACCOUNT\u001b[22m \u001b[32mok\u001b[39m \u001b[31mFAILED\u001b[39m",
  );
  expect(shownText(text, false)).toBe("ACCOUNT ok FAILED");
});

it("can't be had by a text of others, within a style or without", () => {
  const hostile = "\u001b[32mverified\u001b[0m\u001b[;1mx\u001b[123456789;1my\n\u0007";
  const escaped = "\\u001b[32mverified\\u001b[0m\\u001b[;1mx\\u001b[123456789;1my\n\\u0007";
  expect(shownText(hostile, true)).toBe(escaped);
  expect(shownText(styled(hostile, "bad"), true)).toBe(`\u001b[31m${escaped}\u001b[39m`);
});
