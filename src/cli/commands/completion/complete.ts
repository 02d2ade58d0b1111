// What may stand where the cursor is. Completion is silent: what fails offers nothing.
import type { Command } from "commander";
import type { Environment } from "../../../config.ts";
import { requireCredentials, resolveConnection } from "../../connection/settings.ts";
import { Output } from "../../terminal/output.ts";
import { pathOf } from "../../definition/command-tree.ts";
import { printable } from "../../terminal/printable.ts";
import { readConfigFile } from "../../connection/profiles.ts";
import { topics } from "../help/topics.ts";
import type { Candidate } from "./live-names.ts";
import { findPosition, type Position } from "./position.ts";
import { forBash, splitShellLine } from "./shell-line.ts";
import { kindOfValue, type ValueKind } from "./values.ts";

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
  const position = findPosition(program, shell === "bash" ? split.words.slice(1) : words);
  const candidates = await listCandidates(position, program, environment).catch(() => []);
  const typed = position.prefix + position.typed;
  const shown = candidates
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
  for (const text of [howToGoOn(position), ...shown]) output.line(text);
}

/** What the shell does: completes files by itself, or puts a space after the only candidate or does not. */
function howToGoOn(position: Position): "files" | "nospace" | "space" {
  const kind = kindAt(position);
  if (kind === "file") return "files";
  return kind === "line" ? "nospace" : "space";
}

/** What the value is that is being typed; null where it is none, or nothing is known of it. */
function kindAt({ command, wanted }: Position): ValueKind | null {
  const path = pathOf(command).split(" ").slice(1).join(" ");
  return "name" in wanted ? kindOfValue(path, wanted.name) : null;
}

async function listCandidates(
  position: Position,
  program: Command,
  environment: Environment,
): Promise<Candidate[]> {
  const { command, wanted, given } = position;
  if (wanted.kind === "command") return commandNames(command);
  if (wanted.kind === "flag") return flagNames(position);
  const kind = kindAt(position);
  if (kind === null || kind === "file") return [];
  if (typeof kind === "object") return kind.map((value) => ({ value }));
  if (kind === "profile") return profileNames(environment);
  if (kind === "topic") return helpNames("before" in wanted ? wanted.before : [], program);
  const flags = {
    url: given.get("--url"),
    apiKey: given.get("--api-key"),
    ledger: given.get("--ledger"),
    profile: given.get("--profile"),
  };
  const silent = new Output({ quiet: true }, true);
  const connection = requireCredentials(await resolveConnection(flags, environment, silent));
  const { listLiveNames } = await import("./live-names.ts");
  return listLiveNames(kind, connection, position.typed);
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
  const command = before.reduce<Command | undefined>(
    (at, word) => at?.commands.find((candidate) => candidate.name() === word),
    program,
  );
  const names = topics.map(({ name, summary }) => ({ value: name, description: summary }));
  const below = command === undefined ? [] : commandNames(command);
  return [...(before.length === 0 ? names : []), ...below];
}

async function profileNames(environment: Environment): Promise<Candidate[]> {
  const { profiles } = await readConfigFile(environment.configFile, () => undefined);
  return Object.entries(profiles).map(([name, { url }]) => ({ value: name, description: url }));
}
