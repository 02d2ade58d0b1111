// PostgreSQL's programs inside a single executable: each file is an asset, compressed by itself.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { getAsset } from "node:sea";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import * as z from "zod";

const decompress = promisify(brotliDecompress);
const writersMax = 8;

const contentsSchema = z.object({
  /** The version, and a hash of all files. */
  label: z.string(),
  /** Paths such as bin/postgres. */
  files: z.array(z.string()),
});

/** What differs where any file does. Throws where nothing is packed. */
export function packedLabel(): string {
  return readContents().label;
}

/**
 * Writes the files below `directory`. All are flushed to the disk: once the directory has its name it is never looked
 * at again, so a power cut must not leave an empty file there.
 */
export async function unpackBinaries(directory: string): Promise<void> {
  const { files } = readContents();
  const folders = new Set(files.map((file) => join(directory, dirname(file))));
  for (const folder of folders) await mkdir(folder, { recursive: true });
  const writeRest = async () => {
    for (let file = files.pop(); file !== undefined; file = files.pop()) {
      const content = await decompress(getAsset(`postgresql/${file}`));
      await writeFile(join(directory, file), content, { flush: true });
    }
  };
  await Promise.all(Array.from({ length: writersMax }, writeRest));
}

function readContents(): z.infer<typeof contentsSchema> {
  return contentsSchema.parse(JSON.parse(getAsset("postgresql.json", "utf8")));
}
