// `--jq`: documents go through jq before they are printed. Loaded only where it is asked for.
import { loadJq, type Jq } from "jq-wasm/inline";
import { CommandFailure, exitCodes, usageFailure } from "../failure.ts";
import type { DocumentFilter } from "./output.ts";
import { printableJson, printableLines } from "./printable.ts";
import { keepsNumbers } from "./exact-expression.ts";

/** Documents of one call of jq, as far as they come together: a call takes a millisecond, a document 10 µs. */
const batchLength = 256 * 1024;
/** What looks at other documents, or ends jq, gets each document by itself. */
const seesOthers = /\b(inputs?|halt|halt_error|input_line_number)\b/;
/** jq's exit code where the expression can't be compiled. */
const notCompiled = 3;

class JqFilter implements DocumentFilter {
  readonly #jq: Jq;
  readonly #expression: string;
  readonly #isKeepingNumbers: boolean;
  readonly #isBatched: boolean;
  #batch: string[] = [];
  #length = 0;
  #failure: CommandFailure | null = null;

  constructor(jq: Jq, expression: string) {
    this.#jq = jq;
    this.#expression = expression;
    this.#isKeepingNumbers = keepsNumbers(expression);
    this.#isBatched = !seesOthers.test(expression);
  }

  write(document: string): void {
    if (this.#failure !== null) throw this.#failure;
    const rounded = this.#isKeepingNumbers ? null : findLongNumber(document);
    if (rounded !== null) {
      this.#run();
      throw new CommandFailure(
        `--jq: jq would round the number ${rounded}, as it computes with 53 bits. An expression that only picks, ` +
          "compares and prints keeps all digits.",
        exitCodes.failed,
      );
    }
    if (this.#batch.length === 0)
      setImmediate(() => {
        this.#run();
      });
    this.#batch.push(document);
    this.#length += document.length;
    if (!this.#isBatched || this.#length > batchLength) this.#run();
  }

  end(): void {
    this.#run();
    if (this.#failure !== null) throw this.#failure;
  }

  /** What can't be thrown here, since nobody called, is thrown at the next document or at the end. */
  #run(): void {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    this.#length = 0;
    const { stdout, stderr, exitCode } = this.#jq.raw(batch.join("\n"), this.#expression, flags);
    if (stdout !== "") process.stdout.write(`${stdout.split("\n").map(shown).join("\n")}\n`);
    if (exitCode === 0 && stderr !== "") process.stderr.write(`${printableLines(stderr)}\n`);
    if (exitCode === 0) return;
    this.#failure ??= new CommandFailure(`--jq: ${reasonOf(stderr)}`, exitCodes.failed);
  }
}

/** A result a line, and what follows is no flag. */
const flags = ["-c", "--"];

/** Compiles an expression. Rejects with a usage failure that has jq's message where that can't be done. */
export async function loadJqFilter(expression: string): Promise<DocumentFilter> {
  if (expression.includes("\0")) throw usageFailure("--jq must have no NUL");
  const jq = await loadJq();
  // Without a document it is compiled, and that is all.
  const { stderr, exitCode } = jq.raw("", expression, flags);
  if (exitCode === notCompiled) throw usageFailure(`--jq: ${reasonOf(stderr)}`);
  return new JqFilter(jq, expression);
}

/** A result as it is printed: of a text the text itself, into a pipe as it is; a terminal gets no commands from it. */
function shown(result: string): string {
  if (!result.startsWith('"')) return printableJson(result);
  const text = JSON.parse(result) as string;
  return process.stdout.isTTY ? printableLines(text) : text;
}

/** jq's message without its own name; a fault of the expression keeps the line that shows where it is. */
function reasonOf(stderr: string): string {
  const lines = stderr
    .trimEnd()
    .split("\n")
    .filter((line) => !/^jq: [0-9]+ compile errors?$/.test(line));
  const [first = "jq failed"] = lines;
  const [head = "", ...more] = /^jq: error \(at/.test(first) ? [first] : lines;
  return [
    head.replace(/^jq: (?:error(?: \(at [^)]*\))?: )?/, ""),
    ...more.map((line) => line.trimEnd()),
  ].join("\n");
}

/** A whole number beyond 2^53 in a document; null for none. Texts are no numbers. */
function findLongNumber(document: string): string | null {
  if (!/[0-9]{16}/.test(document)) return null;
  const bare = document.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  const numbers = bare.match(/-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g) ?? [];
  return (
    numbers.find((text) => /^-?[0-9]+$/.test(text) && !Number.isSafeInteger(Number(text))) ?? null
  );
}
