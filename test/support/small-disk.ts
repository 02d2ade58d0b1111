// A disk of its own that is small enough to be filled. Mounting one takes root on Linux.
import { mkdir, open, rm } from "node:fs/promises";
import { runProgram } from "../../src/store/embedded/run-program.ts";

export const mayMountDisks = process.platform === "linux" && process.getuid?.() === 0;

export class SmallDisk {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Mounts one at a folder that is not there yet; `size` as mount takes it, such as `160m`. */
  static async mount(directory: string, size: string): Promise<SmallDisk> {
    await mkdir(directory);
    const options = `size=${size},mode=755`;
    await run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory]);
    return new SmallDisk(directory);
  }

  /** Leaves no space on it. */
  async fill(): Promise<void> {
    const file = await open(this.#filler, "w");
    const chunk = Buffer.alloc(64 * 1024);
    try {
      for (;;) await file.write(chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      await file.close();
    }
  }

  /** Gives the space back that `fill` took. */
  async free(): Promise<void> {
    await rm(this.#filler);
  }

  /** Removes it with all that is on it. */
  async unmount(): Promise<void> {
    await run("umount", [this.directory]);
    await rm(this.directory, { recursive: true });
  }

  get #filler(): string {
    return `${this.directory}/filler`;
  }
}

async function run(program: string, args: string[]): Promise<void> {
  const { code, stderr } = await runProgram(program, args, undefined);
  if (code !== 0) throw new Error(`${program}: ${stderr}`);
}
