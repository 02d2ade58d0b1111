// The manual page, docs/man/ledgerctl.1, made from the tree of commands: `npm run docs:cli` writes it, a test holds it equal.
import type { Command, Option } from "commander";
import { isRunnable, pathOf, shownCommandsOf } from "./command-tree.ts";
import { sharedOptionGroups } from "./options.ts";
import { helpAfterOptions } from "./reference.ts";

/** A topic of `ledgerctl help`. */
interface Topic {
  readonly name: string;
  readonly text: string;
}

/** The page in the man macros of roff. `version`: of the program. */
export function manPage(program: Command, topics: readonly Topic[], version: string): string {
  const commands = shownCommandsOf(program).filter(isRunnable);
  return [
    `.TH LEDGERCTL 1 "" "ledgerctl ${roff(version)}" "User Commands"`,
    ".SH NAME",
    `ledgerctl \\- ${roff(lowered(program.description()))}`,
    ".SH SYNOPSIS",
    ".B ledgerctl",
    ".I command",
    "[options]",
    ".SH DESCRIPTION",
    "Every command is listed below, with its own options. Options that commands share come after them.",
    ".SH COMMANDS",
    ...commands.flatMap(commandSection),
    ".SH SHARED OPTIONS",
    ...sharedOptionGroups.flatMap((group) => sharedSection(group, commands)),
    ...topics.flatMap(topicSection),
    ".SH SEE ALSO",
    "docs/cli.md, docs/api.md and docs/operations.md, which are installed with the program.",
    "",
  ].join("\n");
}

function commandSection(command: Command): string[] {
  const own = command.options.filter((option) => !isShared(option));
  return [
    `.SS ${roff(pathOf(command))} ${roff(command.usage())}`,
    roff(sentence(command.description())),
    ...own.flatMap(optionItem),
    ...verbatim(helpAfterOptions(command).trim()),
  ];
}

function sharedSection(group: string, commands: readonly Command[]): string[] {
  const options = new Map(
    commands
      .flatMap((command) => command.options)
      .filter(({ helpGroupHeading }) => helpGroupHeading === group)
      .map((option) => [option.flags, option] as const),
  );
  return [`.SS ${roff(group.replace(":", ""))}`, ...[...options.values()].flatMap(optionItem)];
}

function topicSection({ name, text }: Topic): string[] {
  const [, ...lines] = text.split("\n");
  return [
    `.SH ${roff(name.toUpperCase().replaceAll("-", " "))}`,
    ...verbatim(lines.join("\n").trim()),
  ];
}

function optionItem({ flags, description, mandatory, defaultValue, negate }: Option): string[] {
  const preset = defaultValue === undefined || negate ? "" : ` (default: ${String(defaultValue)})`;
  return [".TP", `.B ${roff(flags)}`, roff(description + (mandatory ? "; required" : "") + preset)];
}

/** Lines as they stand. */
function verbatim(text: string): string[] {
  return text === "" ? [] : [".PP", ".nf", ...text.split("\n").map(roff), ".fi"];
}

function isShared({ helpGroupHeading }: Option): boolean {
  return sharedOptionGroups.some((group) => group === helpGroupHeading);
}

/** Text that roff takes for text: its escapes, hyphens that can be copied, and no line that is a request. */
function roff(text: string): string {
  const escaped = text.replaceAll("\\", "\\e").replaceAll("-", "\\-");
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, "");
}
