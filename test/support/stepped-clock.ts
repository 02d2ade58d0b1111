// Clocks that can be stepped while programs look at them: stepped-clock.c, preloaded into the programs, adds to the time
// what a file says. Takes Linux and a C compiler.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// From the root of the checkout, so that it is found from a bundle two folders deep too.
const source = fileURLToPath(new URL("../../test/support/stepped-clock.c", import.meta.url));

export const mayStepClocks = process.platform === "linux" && hasCompiler();

export class SteppedClock {
  /** What a program is started with that looks at this clock. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #file: string;

  private constructor(library: string, file: string) {
    this.environment = { LD_PRELOAD: library, LEDGERCTL_TEST_CLOCK: file };
    this.#file = file;
  }

  /** One that is right so far, in a folder that the programs' users can read. */
  static async create(folder: string, name: string): Promise<SteppedClock> {
    const file = join(folder, `${name}.clock`);
    await writeFile(file, secondsAsBytes(0));
    await chmod(file, 0o644);
    return new SteppedClock(compileIn(folder), file);
  }

  /** From now on it is ahead of the machine's by so many seconds, or behind it where they are below zero. */
  async set(aheadSeconds: number): Promise<void> {
    const file = await open(this.#file, "r+");
    await file.write(secondsAsBytes(aheadSeconds), 0, 8, 0);
    await file.close();
  }
}

function secondsAsBytes(seconds: number): Buffer {
  return Buffer.from(BigInt64Array.of(BigInt(seconds)).buffer);
}

function compileIn(folder: string): string {
  const library = join(folder, "stepped-clock.so");
  if (!existsSync(library)) {
    execFileSync("cc", ["-shared", "-fPIC", "-O2", "-Wall", "-o", library, source, "-ldl"]);
  }
  return library;
}

function hasCompiler(): boolean {
  try {
    execFileSync("cc", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
