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

/** Whether a command does something itself: one that only groups others has no options. */
export function isRunnable({ parent, commands, options }: Command): boolean {
  return parent !== null && (commands.length === 0 || options.length > 0);
}

/** `ledgerctl entry post`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
