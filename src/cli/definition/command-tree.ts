// Walking the tree of commands.
import type { Command } from "commander";

/** A command with all that are below it, in the order of the help. */
export function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}

/** The same without commands that are for programs. */
export function shownCommandsOf(command: Command): Command[] {
  const below = command.createHelp().visibleCommands(command);
  return [command, ...below.flatMap(shownCommandsOf)];
}

/** `ledgerctl entry post`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
