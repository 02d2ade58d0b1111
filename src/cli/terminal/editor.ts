// The user's editor, on a file that nobody else can read and that is gone afterwards.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode } from "../../core/thrown.ts";
import { CommandFailure, exitCodes, usageFailure } from "../failure.ts";
import { isTerminal } from "./confirm.ts";

/** What POSIX has, where the environment names none. */
const usualEditor = "vi";

/** Opens a text in the editor, and resolves with the text as it is when the editor ends. */
export type Edit = (text: string) => Promise<string>;

/**
 * Runs what needs an editor. `command` is run by the shell, so that it may have arguments; null: `vi`, which needs a
 * terminal. `outcome` is what is said where the editor fails: `nothing was posted`.
 */
export async function withEditor<Result>(
  command: string | null,
  outcome: string,
  run: (edit: Edit) => Promise<Result>,
): Promise<Result> {
  if (command === null && !isTerminal()) {
    throw usageFailure("there is no terminal to edit on, and VISUAL and EDITOR name no editor");
  }
  // The folder is the user's alone, also what an editor puts beside the file.
  const folder = await mkdtemp(join(tmpdir(), "ledgerctl-"));
  const remove = () => {
    rmSync(folder, { recursive: true, force: true });
  };
  const end = () => process.exit(exitCodes.interrupted);
  process.once("exit", remove);
  for (const signal of endingSignals) process.on(signal, end);
  const file = join(folder, "entry.txt");
  try {
    return await run(async (text) => {
      await writeFile(file, text, { mode: 0o600 });
      await openEditor(command ?? usualEditor, file, outcome);
      return readText(file, outcome);
    });
  } finally {
    for (const signal of endingSignals) process.off(signal, end);
    process.off("exit", remove);
    remove();
  }
}

const endingSignals = ["SIGTERM", "SIGHUP"] as const;

async function openEditor(command: string, file: string, outcome: string): Promise<void> {
  // Where stdout is a pipe, what the editor shows does not belong into it.
  const screen = process.stdout.isTTY ? "inherit" : process.stderr;
  // Ctrl-C is the editor's while it runs.
  const ignore = () => undefined;
  process.on("SIGINT", ignore);
  const editor = spawn("/bin/sh", ["-c", `${command} "$@"`, "sh", file], {
    stdio: ["inherit", screen, process.stderr],
  });
  const end = () => editor.kill();
  process.once("exit", end);
  try {
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
      editor.once("error", reject);
      editor.once("close", (...ended) => {
        resolve(ended);
      });
    });
    if (code === 0) return;
    const isInterrupted = signal === "SIGINT" || code === exitCodes.interrupted;
    throw new CommandFailure(
      `the editor (${command}) ended with ${signal ?? code}; ${outcome}`,
      isInterrupted ? exitCodes.interrupted : exitCodes.failed,
    );
  } finally {
    process.off("SIGINT", ignore);
    process.off("exit", end);
  }
}

/** A file that is gone is an empty one. */
async function readText(file: string, outcome: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "";
    if (!(error instanceof TypeError)) throw error;
    throw new CommandFailure(`the file is not in UTF-8; ${outcome}`, exitCodes.usage, error);
  }
}
