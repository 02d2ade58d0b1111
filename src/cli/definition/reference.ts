// The reference in docs/cli.md, made from the tree of commands: `npm run docs:cli` writes it, a test holds it equal.
import type { Command, Option } from "commander";
import { sharedOptionGroups } from "./options.ts";
import { isRunnable, pathOf, shownCommandsOf } from "./command-tree.ts";

const begin = "<!-- From here on made by `npm run docs:cli`. -->";

/** The page with the reference of the program's commands in place of what followed the mark, as Markdown. */
export function withReference(page: string, program: Command): string {
  const at = page.indexOf(begin);
  if (at < 0) throw new Error(`the page has no line ${begin}`);
  return `${page.slice(0, at)}${begin}\n\n${referenceOf(program)}\n`;
}

function referenceOf(program: Command): string {
  const commands = shownCommandsOf(program).filter(isRunnable);
  return [
    "## Reference",
    "Every command as its `--help` has it. `-h`, `--help` is an option of all.",
    ...sharedOptionGroups.map((group) => sharedSection(group, commands)),
    ...commands.map(commandSection),
  ].join("\n\n");
}

/** What commands share stands once: the options of a group are the same wherever it is, or some of them. */
function sharedSection(group: string, commands: readonly Command[]): string {
  const options = new Map<string, Option>();
  for (const option of commands.flatMap((command) => command.options)) {
    const isFirst = !options.has(option.flags);
    if (option.helpGroupHeading === group && isFirst) options.set(option.flags, option);
  }
  return `### ${headingOf(group)}\n\n${optionTable([...options.values()])}`;
}

function commandSection(command: Command): string {
  const own = command.options.filter(
    ({ helpGroupHeading }) => !sharedOptionGroups.some((group) => group === helpGroupHeading),
  );
  const shared = sharedOptionGroups.filter((group) =>
    command.options.some(({ helpGroupHeading }) => helpGroupHeading === group),
  );
  const links = shared.map((group) => `[${headingOf(group).toLowerCase()}](#${anchorOf(group)})`);
  return [
    `### ${pathOf(command)}`,
    `\`${pathOf(command)} ${command.usage()}\``,
    sentence(command.description()),
    ...(own.length === 0 ? [] : [optionTable(own)]),
    ...(links.length === 0 ? [] : [`And ${links.join(", ")}.`]),
    `\`\`\`text\n${helpAfterOptions(command).trim()}\n\`\`\``,
  ].join("\n\n");
}

function headingOf(group: string): string {
  return `${group.replace(":", "")} options`;
}

function anchorOf(group: string): string {
  return headingOf(group).toLowerCase().replaceAll(" ", "-");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map((option) => {
    const preset =
      option.defaultValue === undefined || option.negate
        ? ""
        : ` (default: ${String(option.defaultValue)})`;
    const required = option.mandatory ? "; required" : "";
    return `| \`${option.flags}\` | ${option.description}${required}${preset} |`;
  });
  return ["| option | what it does |", "|---|---|", ...rows].join("\n");
}

/** What a command's help says after its options: notes and examples. */
export function helpAfterOptions(command: Command): string {
  let text = "";
  // A command is an EventEmitter, which its types leave out.
  (command as unknown as NodeJS.EventEmitter).emit("afterHelp", {
    error: false,
    command,
    write: (part: string) => (text += part),
  });
  return text;
}
