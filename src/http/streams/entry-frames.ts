// Entries as frames of a WebSocket. A server's frames are not masked (RFC 6455, section 5.1), so the same bytes go to every
// reader: an entry is written out once, however many follow the journal.
import type { EntryBatch } from "../../engine/journal-hub.ts";
import { wireEntry } from "../handlers/wire-entry.ts";

const framesOfBatches = new WeakMap<EntryBatch, Buffer>();

/** The frames of a batch, a text message for each entry. */
export function entryFrames(batch: EntryBatch): Buffer {
  const made = framesOfBatches.get(batch);
  if (made !== undefined) return made;
  const frames = Buffer.concat(
    batch.map((entry) =>
      textFrame(Buffer.from(`{"type":"entry","entry":${JSON.stringify(wireEntry(entry))}}`)),
    ),
  );
  framesOfBatches.set(batch, frames);
  return frames;
}

/** The first byte of a text message in one frame. */
const finalText = 0x81;

/** RFC 6455, section 5.2: the length in 7 bits, or in the 16 or 64 that follow. */
function textFrame(payload: Buffer): Buffer {
  const { length } = payload;
  const header = Buffer.alloc(length < 126 ? 2 : length < 0x1_00_00 ? 4 : 10);
  header.writeUInt8(finalText, 0);
  header.writeUInt8(length < 126 ? length : header.length === 4 ? 126 : 127, 1);
  if (header.length === 4) header.writeUInt16BE(length, 2);
  if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, payload]);
}
