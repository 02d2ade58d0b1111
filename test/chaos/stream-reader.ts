// Follows a wallet's stream from its first write on, through every lost connection.
import type { LedgerClient, WalletStream } from "../../src/client/ledger-client.ts";
import { until } from "../support/until.ts";
import type { Streamed } from "./verdict.ts";

export class StreamReader implements Streamed {
  readonly callerKey: string;
  readonly messages: { seq: number; balance: string }[] = [];
  readonly #stream: WalletStream;
  #failure: Error | null = null;

  constructor(client: LedgerClient, ledgerId: string, callerKey: string) {
    this.callerKey = callerKey;
    this.#stream = client.streamWallet({ ledgerId, callerKey }, { since: 0 });
    void this.#read();
  }

  /** Resolves when the message of this write has come. */
  async reach(seq: number): Promise<void> {
    await until(`seq ${seq} on the stream of ${this.callerKey}`, () => {
      if (this.#failure !== null) throw this.#failure;
      return (this.messages.at(-1)?.seq ?? 0) >= seq;
    });
  }

  close(): void {
    this.#stream.close();
  }

  async #read(): Promise<void> {
    try {
      for await (const message of this.#stream) this.messages.push(message);
    } catch (error) {
      this.#failure = new Error("the stream ended", { cause: error });
    }
  }
}
