// Help, and what the program says of a command line that it does not understand.
import { expect, it } from "vitest";
import { readEnvironment } from "../../src/config.ts";
import { exitCodes } from "../../src/cli/failure.ts";
import { topics } from "../../src/cli/commands/help/topics.ts";
import { isRunnable, pathOf, shownCommandsOf } from "../../src/cli/definition/command-tree.ts";
import { createProgram } from "../../src/cli/program.ts";
import { runCli } from "../support/cli.ts";
import { runHere } from "../support/program.ts";

const textOf = (name: string) => topics.find((topic) => topic.name === name)?.text ?? "";
const program = createProgram();
const commands = shownCommandsOf(program).filter(isRunnable);

it("describes every command, every option and an example", () => {
  expect(commands.length).toBeGreaterThan(40);
  for (const command of shownCommandsOf(program)) {
    expect(command.description(), pathOf(command)).not.toBe("");
    for (const option of command.options) expect(option.description, option.flags).not.toBe("");
  }
  for (const command of commands) {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    expect(help, pathOf(command)).toMatch(/^Examples?:\n {2}\$ /m);
    // These two have nothing to say to a script.
    if (["help", "completion"].includes(command.name())) continue;
    for (const flag of ["--json", "--quiet", "--no-color", "--verbose"])
      expect(help).toContain(flag);
  }
});

it("defines a command by itself as it does beside the others", () => {
  for (const command of program.commands) {
    const alone = createProgram([command.name()]);
    const found = alone.commands.find((one) => one.name() === command.name());
    expect(found?.helpInformation()).toBe(command.helpInformation());
    const isWhole = ["completion", "help", "__complete"].includes(command.name());
    expect(alone.commands.length, command.name()).toBe(isWhole ? program.commands.length : 1);
  }
});

it("marks the options that a command needs, and no others", () => {
  const help = (noun: string, verb: string) =>
    program.commands
      .find((command) => command.name() === noun)
      ?.commands.find((command) => command.name() === verb)
      ?.helpInformation();
  const marked = /^ +--asset <code> +the wallet's asset, such as USD; required$/m;
  expect(help("wallet", "credit")).toMatch(marked);
  expect(help("wallet", "credit")?.match(/; required$/gm)).toHaveLength(1);
  expect(help("wallet", "balance")).not.toContain("; required");
});

it("explains every exit code", () => {
  const explained = [...textOf("exit-codes").matchAll(/^ +([0-9]+) {2}/gm)].map(([, code]) =>
    Number(code),
  );
  expect(explained).toEqual(Object.values(exitCodes));
});

it("lists every variable that is read", () => {
  const read = new Set<string>();
  const variables = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get: (_, name) => {
        if (typeof name === "string") read.add(name);
        return undefined;
      },
    },
  );
  readEnvironment(variables);
  const listed = [...textOf("environment").matchAll(/(?<=^ {2}|^ {2}.*, )([A-Z][A-Z_]+)/gm)];
  expect(new Set(listed.map(([name]) => name))).toEqual(read);
});

it("fits a terminal of 120 columns", () => {
  for (const { name, text } of topics) {
    for (const line of text.split("\n")) expect(line.length, `${name}: ${line}`).toBeLessThan(120);
  }
});

it("shows topics and the help of commands", async () => {
  const list = await runHere(["help"]);
  for (const { name } of topics) expect(list.stdout).toContain(`  ${name} `);
  expect((await runHere(["help", "exit", "codes"])).stdout).toBe(`${textOf("exit-codes")}\n`);
  const help = await runCli(["help", "entry", "post"]);
  expect(help).toEqual(await runHere(["entry", "post", "--help"]));
  expect(help).toMatchObject({ code: 0, stderr: "" });
});

it.each([
  [["enty"], "unknown command 'enty'\n  Did you mean entry?\n  `ledgerctl --help` tells more."],
  [
    ["entry", "pots"],
    "unknown command 'pots'\n  Did you mean post?\n  `ledgerctl entry --help` tells more.",
  ],
  [
    ["entry", "post", "--lin", "1000:1"],
    "unknown option '--lin'\n  Did you mean --line?\n  `ledgerctl entry post --help` tells more.",
  ],
  [["balance"], "missing required argument 'code'\n  `ledgerctl balance --help` tells more."],
  [
    ["bundle", "2026-03"],
    "required option '--out <file>' not specified\n  `ledgerctl bundle --help` tells more.",
  ],
  [
    ["help", "perods"],
    'there is no topic and no command "perods"\n  Did you mean periods?\n  `ledgerctl help` lists topics, `ledgerctl --help` commands.',
  ],
])("says of %j in one message what is wrong, and exits with 2", async (args, message) => {
  expect(await runHere(args)).toEqual({ code: 2, stdout: "", stderr: `ledgerctl: ${message}\n` });
});

it("shows help on stderr, and exits with 2, where a verb is missing", async () => {
  const { code, stdout, stderr } = await runCli(["entry"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("Usage: ledgerctl entry");
});
