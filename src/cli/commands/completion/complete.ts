// What may stand where the cursor is. Completion is silent: what fails offers nothing.
import type { Command } from "commander";
import type { Environment } from "../../../config.ts";
import { requireCredentials, resolveConnection } from "../../connection/settings.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { pathOf } from "../../definition/command-tree.ts";
import { printable } from "../../terminal/printable.ts";
import { readConfigFile } from "../../connection/profiles.ts";
import { topics } from "../help/topics.ts";
import type { Candidate } from "./live-names.ts";
import { findPosition, type Position } from "./position.ts";
import { forBash, splitShellLine } from "./shell-line.ts";
import { kindOfArgument, kindOfOption, type ValueKind } from "./values.ts";

interface Completion {
  /** What the shell does: completes files by itself, or puts a space after the only candidate or does not. */
  readonly how: "files" | "nospace" | "space";
  readonly candidates: readonly Candidate[];
}

/**
 * Prints how to go on, then a candidate a line. `words`: for bash its word breaks and the line up to the cursor, for
 * others the words after the program's name, the last being typed.
 */
export async function printCandidates(
  shell: string,
  words: readonly string[],
  program: Command,
  environment: Environment,
): Promise<void> {
  const [wordBreaks = "", line = ""] = words;
  const split = splitShellLine(line);
  const typedWords = shell === "bash" ? split.words.slice(1) : words;
  const position = findPosition(program, typedWords);
  const completion = await complete(position, program, environment).catch(() => nothing);
  const typed = position.prefix + position.typed;
  const shown = completion.candidates
    .filter(({ value }) => value.startsWith(position.typed))
    // A line each: a name with a line feed in it can't be offered.
    .filter(({ value }) => printable(value) === value)
    .map(({ value, description }) => {
      const whole = position.prefix + value;
      if (shell === "bash") {
        return forBash(whole, typed, { openQuote: split.openQuote, wordBreaks });
      }
      return description === undefined ? whole : `${whole}\t${printable(description)}`;
    });
  const output = new Output({ json: true }, true);
  for (const text of [completion.how, ...shown]) output.line(text);
}

const nothing: Completion = { how: "space", candidates: [] };

async function complete(
  position: Position,
  program: Command,
  environment: Environment,
): Promise<Completion> {
  const { command, wanted } = position;
  const path = pathOf(command).split(" ").slice(1).join(" ");
  switch (wanted.kind) {
    case "command":
      return { how: "space", candidates: commandNames(command) };
    case "flag":
      return { how: "space", candidates: flagNames(position) };
    case "option":
      return ofKind(kindOfOption(path, wanted.name), position, program, environment);
    case "argument":
      return ofKind(kindOfArgument(path, wanted.name), position, program, environment);
    case "nothing":
      return nothing;
  }
}

async function ofKind(
  kind: ValueKind | null,
  { wanted, given }: Position,
  program: Command,
  environment: Environment,
): Promise<Completion> {
  if (kind === null) return nothing;
  if (kind === "file") return { how: "files", candidates: [] };
  if (typeof kind === "object") {
    return { how: "space", candidates: kind.map((value) => ({ value })) };
  }
  if (kind === "topic") {
    const before = wanted.kind === "argument" ? wanted.before : [];
    return { how: "space", candidates: helpNames(before, program) };
  }
  if (kind === "profile") return { how: "space", candidates: await profileNames(environment) };
  const flags = flagsGiven(given);
  const silent = new Output({ quiet: true }, true);
  const source = requireCredentials(await resolveConnection(flags, environment, silent));
  const { listLiveNames } = await import("./live-names.ts");
  return {
    how: kind === "line" ? "nospace" : "space",
    candidates: await listLiveNames(kind, source),
  };
}

function flagsGiven(given: ReadonlyMap<string, string>): ServiceFlags {
  const [url, apiKey] = [given.get("--url"), given.get("--api-key")];
  const [ledger, profile] = [given.get("--ledger"), given.get("--profile")];
  return {
    ...(url === undefined ? {} : { url }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(ledger === undefined ? {} : { ledger }),
    ...(profile === undefined ? {} : { profile }),
  };
}

function commandNames(command: Command): Candidate[] {
  const shown = command.createHelp().visibleCommands(command);
  return shown.map((found) => ({ value: found.name(), description: found.description() }));
}

/** Options that are not there yet, or may be repeated. */
function flagNames({ command, given }: Position): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long, parseArg }) => parseArg !== undefined || !given.has(long ?? ""))
    .map(({ long, description }) => ({ value: long ?? "", description }));
}

function helpNames(before: readonly string[], program: Command): Candidate[] {
  let command = program;
  for (const word of before) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next === undefined) return [];
    command = next;
  }
  const names = topics.map(({ name, summary }) => ({ value: name, description: summary }));
  return [...(before.length === 0 ? names : []), ...commandNames(command)];
}

async function profileNames(environment: Environment): Promise<Candidate[]> {
  const { profiles } = await readConfigFile(environment.configFile, () => undefined);
  return Object.entries(profiles).map(([name, { url }]) => ({ value: name, description: url }));
}
