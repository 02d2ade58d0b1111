// Where entries are read from: a file or stdin, in chunks, and how far reading has come.
import { fstatSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
import { fileFailureReason } from "../file-failure.ts";

export interface ByteSource {
  readonly chunks: AsyncGenerator<Buffer>;
  /** Bytes in all; null where nobody knows, as with a pipe. */
  readonly bytesTotal: number | null;
  readonly bytesRead: () => number;
  /** Ends `chunks`, also while it waits for more. */
  readonly stop: () => void;
}

/** A file can't be opened or read to its end; the message names it. */
export class UnreadableFile extends CommandFailure {
  constructor(name: string, cause: unknown) {
    super(`${name} can't be read: ${fileFailureReason(cause)}`, exitCodes.usage, cause);
  }
}

/** Opens a file, or stdin for null. */
export async function openByteSource(file: string | null): Promise<ByteSource> {
  if (file === null) {
    const stat = fstatSync(0);
    return byteSource("stdin", process.stdin, stat.isFile() ? stat.size : null);
  }
  let handle: FileHandle;
  try {
    handle = await open(file);
  } catch (error) {
    throw new UnreadableFile(file, error);
  }
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw usageFailure(`${file} is a folder, not a file`);
  }
  const stream = handle.createReadStream({ highWaterMark: 256 * 1024 });
  return byteSource(file, stream, stat.isFile() ? stat.size : null);
}

function byteSource(name: string, stream: Readable, bytesTotal: number | null): ByteSource {
  let bytesRead = 0;
  let isStopped = false;
  async function* readChunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        bytesRead += chunk.length;
        yield chunk;
      }
    } catch (error) {
      if (!isStopped) throw new UnreadableFile(name, error);
    }
  }
  return {
    chunks: readChunks(),
    bytesTotal,
    bytesRead: () => bytesRead,
    stop: () => {
      isStopped = true;
      stream.destroy();
    },
  };
}
