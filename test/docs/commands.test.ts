// docs/cli.md has every command that there is, with every flag of its own.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { runCli } from "../support/cli.ts";

const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");

/** The names in the section `Commands:` of a help text. */
async function commandsOf(...words: string[]): Promise<string[]> {
  const { stdout } = await runCli([...words, "--help"]);
  const [, section = ""] = stdout.split("\nCommands:\n");
  return [...section.matchAll(/^ {2}([a-z][a-z-]*)/gm)]
    .flatMap(([, name]) => name ?? [])
    .filter((name) => name !== "help");
}

async function flagsOf(command: string): Promise<string[]> {
  const { stdout } = await runCli([...command.split(" "), "--help"]);
  return [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].flatMap(([, flag]) => flag ?? []);
}

it("describes every command, and every flag", async () => {
  const nouns = await commandsOf();
  const commands = await Promise.all(
    nouns.map(async (noun) => {
      const verbs = await commandsOf(noun);
      return verbs.length === 0 ? [noun] : verbs.map((verb) => `${noun} ${verb}`);
    }),
  );
  expect(commands.flat().length).toBeGreaterThan(30);
  for (const command of commands.flat()) {
    expect(page, command).toMatch(new RegExp(`\`${command}\``));
    for (const flag of await flagsOf(command)) expect(page, `${command} ${flag}`).toContain(flag);
  }
});
