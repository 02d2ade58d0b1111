// docs/operations.md lists the environment variables that are read: all of them, no others, with the
// defaults that src/config.ts has for its numbers.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readEnvironment } from "../../src/config.ts";
import { readTable } from "./markdown-table.ts";

const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");

function documentedDefaults(): Map<string, string> {
  const rows = readTable(page, ["variable", "default", "what it does"]);
  return new Map(rows.map(([name = "", value = ""]) => [name.replaceAll("`", ""), value]));
}

/** Every name that reading an empty environment asks for. */
function variablesRead(): string[] {
  const names = new Set<string>();
  const watched = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get: (_, name) => {
        if (typeof name === "string") names.add(name);
        return undefined;
      },
    },
  );
  readEnvironment(watched);
  return [...names];
}

it("lists every variable that is read, and no other", () => {
  expect([...documentedDefaults().keys()].sort()).toEqual(variablesRead().sort());
});

it("states the defaults of numbers and of the log level", () => {
  const defaults = documentedDefaults();
  const { clockWindowSeconds, bodyBytesMax, graceMs, logLevel } = readEnvironment({});
  expect(defaults.get("LEDGERCTL_CLOCK_WINDOW_SECONDS")).toBe(String(clockWindowSeconds));
  expect(defaults.get("LEDGERCTL_BODY_BYTES_MAX")).toBe(String(bodyBytesMax));
  expect(defaults.get("LEDGERCTL_GRACE_MS")).toBe(String(graceMs));
  expect(defaults.get("LEDGERCTL_LOG_LEVEL")).toBe(`\`${logLevel}\``);
});
