// Readers of wallets' streams over the package's own client, which reconnects by itself.
import type { LedgerClient, WalletStream } from "../../src/client/ledger-client.ts";
import { expectStreamed } from "./wallet-model.ts";
import type { LoggedRow } from "./wallet-oracle.ts";

export interface StreamReader {
  readonly callerKey: string;
  readonly stream: WalletStream;
  readonly messages: { seq: number; balance: string; available: string }[];
  /** Waits for the last write of a wallet's log, and expects the whole of it, once and in order. */
  expectAll(rows: readonly LoggedRow[]): Promise<void>;
}

/** Follows a wallet from its first write on. */
export function readStream(
  client: LedgerClient,
  ledgerId: string,
  callerKey: string,
): StreamReader {
  const stream = client.streamWallet({ ledgerId, callerKey }, { since: 0 });
  const messages: StreamReader["messages"] = [];
  let look: () => void = () => undefined;
  const reading = (async () => {
    for await (const message of stream) {
      messages.push(message);
      look();
    }
  })();
  return {
    callerKey,
    stream,
    messages,
    expectAll: async (rows) => {
      const last = rows.findLast(({ type }) => type !== "expire")?.seq ?? 0;
      const reached = new Promise<void>((resolve) => {
        look = () => {
          if ((messages.at(-1)?.seq ?? 0) >= last) resolve();
        };
      });
      look();
      await Promise.race([reached, reading]);
      stream.close();
      await reading;
      expectStreamed(messages, rows);
    },
  };
}
