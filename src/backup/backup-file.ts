// A backup as a file: whether it is whole, and what is in it, decompressed.
import { createHash } from "node:crypto";
import { open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { unfinishedName } from "../store/embedded/durable-file.ts";
import { DamagedBackup, UnreadableBackup } from "./backup-format.ts";
import { compressions, sealBytes, sealOf, type Compression } from "./compression.ts";

const truncated = "it was cut short or changed after it was written";

/** A file whose bytes are as they were written. */
export interface WholeFile {
  readonly file: FileHandle;
  readonly compression: Compression;
  /** Where the compressed content ends. */
  readonly contentEnd: number;
}

/** Copies what comes from a pipe to a temporary file that goes with its handle. */
export async function spool(source: AsyncIterable<Buffer>): Promise<FileHandle> {
  const path = unfinishedName(tmpdir());
  const file = await open(path, "wx+", 0o600);
  try {
    await rm(path);
    for await (const chunk of source) await file.appendFile(chunk);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads the whole file and compares it with its seal; throws DamagedBackup. */
export async function requireWhole(
  file: FileHandle,
  onProgress: (share: number) => void,
): Promise<WholeFile> {
  const { size } = await file.stat();
  const compression = await recognize(file);
  const contentEnd = size - sealBytes(compression);
  if (contentEnd < compression.magic.length) throw new DamagedBackup(truncated);
  const hash = createHash("sha256");
  let read = 0;
  for await (const chunk of bytesOf(file, 0, contentEnd)) {
    hash.update(chunk);
    read += chunk.length;
    onProgress(read / contentEnd);
  }
  const seal: Buffer[] = [];
  for await (const chunk of bytesOf(file, contentEnd, size)) seal.push(chunk);
  if (!Buffer.concat(seal).equals(sealOf(compression, hash.digest()))) {
    throw new DamagedBackup(truncated);
  }
  return { file, compression, contentEnd };
}

/** What was compressed. May be read any number of times; throws DamagedBackup where it can't be decompressed. */
export async function* contentOf({
  file,
  compression,
  contentEnd,
}: WholeFile): AsyncGenerator<Buffer> {
  const reader = compression.createReader?.();
  if (reader === undefined) {
    throw new UnreadableBackup(
      `it is compressed with zstd, which Node.js ${process.versions.node} can't read: use 22.15 or newer`,
    );
  }
  const read = pipeline(Readable.from(bytesOf(file, 0, contentEnd)), reader);
  read.catch(() => undefined);
  try {
    yield* reader as AsyncIterable<Buffer>;
    await read;
  } catch (error) {
    throw new DamagedBackup(truncated, { cause: error });
  }
}

async function recognize(file: FileHandle): Promise<Compression> {
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
  const found = compressions.find(({ magic }) => buffer.subarray(0, magic.length).equals(magic));
  if (found === undefined) {
    throw new DamagedBackup("it does not begin as a file of `ledgerctl backup` does");
  }
  return found;
}

/** From `start` up to, but not including, `end`. */
async function* bytesOf(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(256 * 1024);
  let at = start;
  while (at < end) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at);
    if (bytesRead === 0) throw new DamagedBackup(truncated);
    at += bytesRead;
    // A copy: the next read is into the same bytes.
    yield Buffer.from(buffer.subarray(0, bytesRead));
  }
}
