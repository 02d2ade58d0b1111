// Files that have to be in memory as a whole: proofs and checkpoints.
import { MalformedNote } from "../../core/note.ts";
import { openByteSource } from "./entry-files/byte-source.ts";

/** More than the longest entry that the service takes, in base64, with a checkpoint. */
const bytesMax = 32 * 1024 * 1024;

/**
 * What a file has, or stdin for `-`. Of one that is larger than any proof, the beginning: see requireProofSize. Rejects with
 * a CommandFailure that names the file.
 */
export async function readProofBytes(file: string): Promise<Buffer> {
  const source = await openByteSource(file === "-" ? null : file);
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of source.chunks) {
      chunks.push(chunk);
      if (source.bytesRead() > bytesMax) break;
    }
    return Buffer.concat(chunks);
  } finally {
    source.stop();
  }
}

/** Throws MalformedNote where a file was not read to its end. */
export function requireProofSize(bytes: Buffer): void {
  if (bytes.length > bytesMax) throw new MalformedNote("is larger than any proof");
}
