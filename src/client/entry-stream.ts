// The stream of a journal: every entry.
import type { Entry } from "../contract/types.ts";
import { LiveStream, type StreamOptions } from "./live-stream.ts";
import type { SignedHttp } from "./signed-http.ts";

/** `since`: a sequence of the journal. */
export type EntryStreamOptions = StreamOptions;

/** The entries of one journal, in order of sequence. */
export class EntryStream extends LiveStream<Entry> {
  /** `target`: of the stream; `list`: of the list of entries. */
  constructor(http: SignedHttp, target: string, list: string, options: EntryStreamOptions) {
    const log = {
      target,
      read: (text: string) => {
        const { entry } = JSON.parse(text) as { entry: Entry };
        return { item: entry, place: entry.sequence };
      },
      probe: (sequence: number) => `${list}?limit=1&after=${sequence}`,
      hasItems: (text: string) => (JSON.parse(text) as { entries: unknown[] }).entries.length > 0,
    };
    super(http, log, options);
  }
}
