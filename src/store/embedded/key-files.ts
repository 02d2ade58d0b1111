// The secret keys of an embedded database: files of their own beside PostgreSQL's directory, never in it.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import { createFileOnce } from "./durable-file.ts";
import { explaining, ignoring } from "./system-error.ts";

/** A file of a data folder that has 32 secret bytes in base64. */
class KeyFile {
  /** In the folder. */
  readonly name: string;
  readonly #title: string;

  /** `title` is what messages call the key. */
  constructor(name: string, title: string) {
    this.name = name;
    this.#title = title;
  }

  /** Base64 of 32 bytes, as kept; undefined when the folder has none. Does not check the content. */
  async load(dataDir: string): Promise<string | undefined> {
    const text = await explaining(`The ${this.#title} in ${dataDir} cannot be read`, () =>
      ignoring(readFile(join(dataDir, this.name), "utf8"), "ENOENT"),
    );
    return text?.trim();
  }

  /**
   * Makes a key from 32 random bytes and returns it in base64. A key that is there already is never
   * replaced: of two processes that make one at the same time, both return the one that was kept.
   */
  async create(dataDir: string): Promise<string> {
    return this.store(dataDir, randomBytes(32).toString("base64"));
  }

  /** Keeps a key in base64, unless there is one already; returns the one that is kept. */
  async store(dataDir: string, key: string): Promise<string> {
    await explaining(`The ${this.#title} in ${dataDir} cannot be written`, () =>
      createFileOnce(join(dataDir, this.name), `${key}\n`),
    );
    const kept = await this.load(dataDir);
    if (kept === undefined) {
      throw new DatabaseUnavailable(
        `The ${this.#title} in ${dataDir} disappeared while it was being made. Start again.`,
      );
    }
    return kept;
  }
}

/** What the secrets of API keys are derived from. */
export const masterKeyFile = new KeyFile("master-key", "master key");

/** What the keys of logs are derived from. */
export const logKeyFile = new KeyFile("log-key", "log key");
