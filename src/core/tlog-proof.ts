// Proofs that a record is in a log, each in one file (C2SP tlog-proof).
import { parseDecimal, parseHash } from "./checkpoint.ts";
import type { Hash } from "./merkle.ts";
import { MalformedNote, noteBytesMax, parseBase64 } from "./note.ts";

const firstLine = "c2sp.org/tlog-proof@v1";

export interface TlogProof {
  /** The record's bytes, or null. They prove nothing before their leaf hash leads to the root. */
  readonly extra: Buffer | null;
  /** Of the leaf, from 0. */
  readonly index: number;
  /** The audit path, from the leaf's neighbour upwards (RFC 6962, section 2.1.1). */
  readonly path: readonly Hash[];
  /** The signed note, as the log gave it out. */
  readonly checkpoint: string;
}

export function formatTlogProof({ extra, index, path, checkpoint }: TlogProof): string {
  const lines = [
    firstLine,
    ...(extra === null ? [] : [`extra ${extra.toString("base64")}`]),
    `index ${index}`,
    ...path.map((hash) => hash.toString("base64")),
    "",
  ];
  return `${lines.join("\n")}\n${checkpoint}`;
}

/** Whether a text begins as a proof does; a checkpoint does not. */
export function isTlogProof(text: string): boolean {
  return text.startsWith(`${firstLine}\n`);
}

/** Reads a proof. The checkpoint in it is not looked at. Throws MalformedNote. */
export function parseTlogProof(text: string): TlogProof {
  const blank = text.indexOf("\n\n");
  if (!isTlogProof(text) || blank < 0) {
    throw new MalformedNote(`does not begin with the line ${firstLine} and end with a checkpoint`);
  }
  const checkpoint = text.slice(blank + 2);
  if (Buffer.byteLength(checkpoint) > noteBytesMax) {
    throw new MalformedNote("its checkpoint is longer than a megabyte");
  }
  const [, ...lines] = text.slice(0, blank).split("\n");
  const extra = lines[0]?.startsWith("extra ") === true ? parseExtra(lines.shift() ?? "") : null;
  const index = lines.shift();
  if (index?.startsWith("index ") !== true) throw new MalformedNote('has no line "index"');
  const path = lines.map(parseHash);
  return { extra, index: parseDecimal(index.slice("index ".length), "index"), path, checkpoint };
}

function parseExtra(line: string): Buffer {
  const bytes = parseBase64(line.slice("extra ".length));
  if (bytes === null) throw new MalformedNote('the line "extra" is not base64');
  return bytes;
}
