// Where in the tree of commands the cursor is: which command, and what is being typed.
import type { Command, Option } from "commander";

export interface Position {
  readonly command: Command;
  /** The values of options that stand before the cursor, by their long name. */
  readonly given: ReadonlyMap<string, string>;
  /** The value of an option, the argument of a command, or the name of a command or option. */
  readonly wanted:
    | { readonly kind: "option"; readonly name: string }
    | { readonly kind: "argument"; readonly name: string; readonly before: readonly string[] }
    | { readonly kind: "command" }
    | { readonly kind: "flag" }
    | { readonly kind: "nothing" };
  /** What is typed of it. */
  readonly typed: string;
  /** What stands before it in the same word: `--period=`, or nothing. */
  readonly prefix: string;
}

/** The position after words, of which the last is being typed. The program's own name is not among them. */
export function findPosition(program: Command, words: readonly string[]): Position {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const given = new Map<string, string>();
  const operands: string[] = [];
  let command = program;
  let waiting: Option | null = null;
  let isOver = false;
  for (const word of before) {
    if (waiting !== null) {
      given.set(waiting.long ?? "", word);
      waiting = null;
    } else if (!isOver && word === "--") isOver = true;
    else if (!isOver && word.startsWith("-") && word !== "-") {
      const [name, value] = splitFlag(word);
      const option = findOption(command, name);
      given.set(option?.long ?? name, value ?? "");
      if (value === undefined && option?.required === true) waiting = option;
    } else {
      const next = command.commands.find((candidate) => candidate.name() === word);
      if (next !== undefined && operands.length === 0) command = next;
      else operands.push(word);
    }
  }
  const at = { command, given, typed: current, prefix: "" };
  if (waiting !== null) return { ...at, wanted: { kind: "option", name: waiting.long ?? "" } };
  if (!isOver && current.startsWith("-")) {
    const [name, value] = splitFlag(current);
    const option = findOption(command, name);
    if (value === undefined || option?.required !== true)
      return { ...at, wanted: { kind: "flag" } };
    const wanted = { kind: "option", name: option.long ?? name } as const;
    return { ...at, wanted, typed: value, prefix: `${name}=` };
  }
  const isVerbWanted = command.commands.length > 0 && operands.length === 0;
  return { ...at, wanted: isVerbWanted ? { kind: "command" } : argumentAt(command, operands) };
}

function splitFlag(word: string): readonly [string, string?] {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  return equals < 0 ? [word] : [word.slice(0, equals), word.slice(equals + 1)];
}

function findOption(command: Command, name: string): Option | undefined {
  return command.options.find(({ long, short }) => name === long || name === short);
}

function argumentAt(command: Command, operands: readonly string[]): Position["wanted"] {
  const all = command.registeredArguments;
  const last = all.at(-1);
  const argument = all[operands.length] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined
    ? { kind: "nothing" }
    : { kind: "argument", name: argument.name(), before: operands };
}
