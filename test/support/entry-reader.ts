// Readers of a journal's stream, signed by hand: they take every message, and say when enough have come.
import { WebSocket } from "ws";
import type { Entry } from "../../src/contract/types.ts";
import type { Credentials } from "./signed-request.ts";
import type { TestService } from "./service.ts";
import { signedHeaders } from "./stream-reader.ts";

export interface EntryReader {
  readonly entries: Entry[];
  readonly socket: WebSocket;
  /** Resolves with the code once the connection is closed. */
  readonly closed: Promise<number>;
  /** Resolves when an entry with that sequence, or a later one, has come. */
  reach(sequence: number): Promise<void>;
  end(): Promise<void>;
}

export function entryStreamTarget(ledgerId: string, since?: number | string): string {
  const query = since === undefined ? "" : `?since=${since}`;
  return `/v1/ledgers/${ledgerId}/journal-entries/stream${query}`;
}

/** Opens a stream; resolves when the upgrade was answered. */
export async function openEntryStream(
  service: TestService,
  ledgerId: string,
  options: { since?: number; credentials?: Credentials } = {},
): Promise<EntryReader> {
  const target = entryStreamTarget(ledgerId, options.since);
  const headers = signedHeaders(options.credentials ?? service.books.credentials, target);
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}${target}`, { headers });
  const entries: Entry[] = [];
  let look: () => void = () => undefined;
  socket.on("message", (data: Buffer) => {
    const { type, entry } = JSON.parse(data.toString()) as { type: string; entry: Entry };
    if (type !== "entry") throw new Error(`a message of another type: ${type}`);
    entries.push(entry);
    look();
  });
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => undefined);
  return {
    entries,
    socket,
    closed,
    reach: (sequence) =>
      new Promise((resolve, reject) => {
        look = () => {
          if ((entries.at(-1)?.sequence ?? 0) >= sequence) resolve();
        };
        void closed.then((code) => {
          reject(new Error(`the stream was closed with ${code}`));
        });
        look();
      }),
    end: async () => {
      socket.close();
      await closed;
    },
  };
}
