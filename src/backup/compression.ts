// How a backup is compressed, and what its last bytes are: a SHA-256 over all before them, in a part of the file that
// zstd and gunzip skip.
import { createHash } from "node:crypto";
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";

const digestBytes = 32;

export interface Compression {
  readonly name: "zstd" | "gzip";
  /** The first bytes of what it writes. */
  readonly magic: Buffer;
  /** What surrounds the SHA-256 at the end. */
  readonly sealHead: Buffer;
  readonly sealTail: Buffer;
  /** Null where this Node can't read it. */
  readonly createReader: (() => Transform) | null;
}

/** Node has zstd since 22.15, its types since those of 22. */
const zstd = zlib as {
  readonly createZstdCompress?: (options: object) => Transform;
  readonly createZstdDecompress?: () => Transform;
};

/** RFC 8878: a skippable frame (magic number 0x184D2A50) of 32 bytes. */
const zstdCompression: Compression = {
  name: "zstd",
  magic: Buffer.from("28b52ffd", "hex"),
  sealHead: Buffer.from("502a4d1820000000", "hex"),
  sealTail: Buffer.alloc(0),
  createReader: zstd.createZstdDecompress ?? null,
};

/** RFC 1952: a member that is empty but for an extra field named LC. */
const gzipCompression: Compression = {
  name: "gzip",
  magic: Buffer.from("1f8b08", "hex"),
  sealHead: Buffer.from("1f8b08040000000000ff24004c432000", "hex"),
  sealTail: Buffer.from("03000000000000000000", "hex"),
  createReader: () => zlib.createGunzip(),
};

export const compressions: readonly Compression[] = [zstdCompression, gzipCompression];

/** zstd where this Node has it, else gzip: levels at which compressing keeps up with reading from the database. */
export function createCompressor(): {
  readonly compression: Compression;
  readonly writer: Transform;
} {
  const { createZstdCompress } = zstd;
  return createZstdCompress === undefined
    ? { compression: gzipCompression, writer: zlib.createGzip({ level: 3 }) }
    : { compression: zstdCompression, writer: createZstdCompress({}) };
}

/** How many bytes the seal of a file takes. */
export function sealBytes({ sealHead, sealTail }: Compression): number {
  return sealHead.length + digestBytes + sealTail.length;
}

/** The bytes of a file, with its seal behind them. */
export async function* sealed(
  compression: Compression,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
  yield sealOf(compression, hash.digest());
}

/** The seal of a file whose bytes before it have this SHA-256. */
export function sealOf({ sealHead, sealTail }: Compression, digest: Buffer): Buffer {
  return Buffer.concat([sealHead, digest, sealTail]);
}
