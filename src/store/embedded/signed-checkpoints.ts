// The last checkpoint that each log was signed with, in files beside the log key: where the database is brought back to an
// earlier moment, these are not.
import { chown, mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { formatCheckpoint, parseCheckpoint, type Checkpoint } from "../../core/checkpoint.ts";
import type { LogKind } from "../../core/log-origin.ts";
import { replaceFile } from "./durable-file.ts";
import { explaining, ignoring } from "./system-error.ts";

/** In the data folder. */
const signedCheckpointsDirectory = "signed-checkpoints";

/** The files of one data folder. */
export class SignedCheckpointFiles {
  readonly #dataDir: string;
  readonly #directory: string;
  #made: Promise<void> | null = null;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#directory = join(dataDir, signedCheckpointsDirectory);
  }

  /** The checkpoint that a log was last signed with, or null. Rejects with MalformedNote where the file was changed. */
  async read(ledgerId: string, log: LogKind): Promise<Checkpoint | null> {
    const text = await explaining(`${this.#directory} cannot be read`, () =>
      ignoring(readFile(this.#fileOf(ledgerId, log), "utf8"), "ENOENT"),
    );
    return text === undefined ? null : parseCheckpoint(text);
  }

  /** Resolves when it is on disk. */
  async write(ledgerId: string, log: LogKind, checkpoint: Checkpoint): Promise<void> {
    await explaining(`${this.#directory} cannot be written`, async () => {
      await (this.#made ??= this.#makeDirectory());
      await replaceFile(this.#fileOf(ledgerId, log), formatCheckpoint(checkpoint));
    });
  }

  #fileOf(ledgerId: string, log: LogKind): string {
    return join(this.#directory, `${ledgerId}.${log}`);
  }

  /** The folder's owner gets it, so that a root who serves once does not lock the owner out. */
  async #makeDirectory(): Promise<void> {
    const made = await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    if (made === undefined || process.getuid?.() !== 0) return;
    const { uid, gid } = await stat(this.#dataDir);
    await chown(this.#directory, uid, gid);
  }
}
