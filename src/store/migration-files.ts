// The files of migrations/: beside the program, or inside it where it is a single executable.
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAsset, isSea } from "node:sea";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { messageOf } from "../core/thrown.ts";
import { DatabaseUnavailable } from "./database-unavailable.ts";

// Two folders up from here, and two up from the bundle in dist/cli as well.
const directory = fileURLToPath(new URL("../../migrations", import.meta.url));

/** Texts by the names of their files. */
const packedSchema = z.record(z.string(), z.string());

/** Names, unordered. */
export async function listMigrationFileNames(): Promise<string[]> {
  return isSea() ? Object.keys(packedMigrations()) : readdir(directory);
}

/** Calls `use` with a folder that has the files until it resolves: the library that applies them takes no texts. */
export async function withMigrationFiles<Result>(
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  if (!isSea()) return use(directory);
  const folder = await unpackMigrations();
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function unpackMigrations(): Promise<string> {
  try {
    const folder = await mkdtemp(join(tmpdir(), "ledgerctl-migrations-"));
    for (const [name, text] of Object.entries(packedMigrations())) {
      await writeFile(join(folder, name), text);
    }
    return folder;
  } catch (error) {
    throw new DatabaseUnavailable(
      `the migrations can't be written to a folder in ${tmpdir()}: ${messageOf(error)}. ` +
        "Set TMPDIR to a directory that this user can write to.",
      { cause: error },
    );
  }
}

function packedMigrations(): Record<string, string> {
  return packedSchema.parse(JSON.parse(getAsset("migrations.json", "utf8")));
}
