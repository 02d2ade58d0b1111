// The stream of a wallet: what it has come to with each write.
import type { BalanceMessage } from "../contract/types.ts";
import { LiveStream, type StreamOptions } from "./live-stream.ts";
import type { SignedHttp } from "./signed-http.ts";

/** `since`: a seq of the wallet's log. */
export type WalletStreamOptions = StreamOptions;

/** What a wallet has come to with the write that has this seq; amounts in smallest units. */
export interface WalletMessage extends Required<BalanceMessage> {
  /** Whether writes up to this one were posted just now, which changes no figure; else it is a write that is new. */
  readonly isPosting: boolean;
}

/** The messages of one wallet, in the order of their seq. */
export class WalletStream extends LiveStream<WalletMessage> {
  /** `target`: of the stream; `history`: of the wallet's log. */
  constructor(http: SignedHttp, target: string, history: string, options: WalletStreamOptions) {
    const log = {
      target,
      read: (text: string, after: number) => {
        const message = JSON.parse(text) as Required<BalanceMessage>;
        // A posting repeats the seq of the latest write.
        return { item: { ...message, isPosting: message.seq <= after }, place: message.seq };
      },
      probe: (seq: number) => `${history}?limit=1&after=${seq}`,
      hasItems: (text: string) => (JSON.parse(text) as { writes: unknown[] }).writes.length > 0,
    };
    super(http, log, options);
  }
}
