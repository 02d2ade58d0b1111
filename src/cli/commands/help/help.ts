// Finds the topic or the command that somebody wants help with.
import type { Command } from "commander";
import { usageFailure } from "../../failure.ts";
import { Output } from "../../terminal/output.ts";
import { suggestion } from "../../input/suggestion.ts";
import { topics } from "./topics.ts";

/** Prints a topic, a command's help, or, without words, which there are. */
export function showHelp(words: readonly string[], program: Command): void {
  const output = new Output({}, true);
  const topic = topics.find(({ name }) => name === words.join("-"));
  if (words.length === 0) output.line(listTopics());
  else if (topic !== undefined) output.line(topic.text);
  else commandOf(words, program).outputHelp();
}

function listTopics(): string {
  const width = Math.max(...topics.map(({ name }) => name.length));
  return [
    "Topics:",
    ...topics.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "`ledgerctl help TOPIC` shows one, `ledgerctl help COMMAND` the help of a command,",
    "`ledgerctl --help` all commands.",
  ].join("\n");
}

function commandOf(words: readonly string[], program: Command): Command {
  let found = program;
  for (const word of words) {
    const next = found.commands.find((command) => command.name() === word);
    if (next === undefined) throw unknown(words.join(" "), word, found, program);
    found = next;
  }
  return found;
}

function unknown(asked: string, word: string, among: Command, program: Command): Error {
  const names = among.commands.map((command) => command.name());
  const known = among === program ? [...names, ...topics.map(({ name }) => name)] : names;
  return usageFailure(
    `there is no topic and no command "${asked}"${suggestion(word, known)}\n  \`ledgerctl help\` lists topics, \`ledgerctl --help\` commands.`,
  );
}
