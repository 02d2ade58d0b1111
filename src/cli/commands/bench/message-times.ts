// `bench streams`: each wallet has a reader of its stream. Measured is when the message of a write comes, counted
// from its reply; one process writes and reads, so that one clock tells.
import { setTimeout as sleep } from "node:timers/promises";
import type { LedgerClient } from "../../../client/ledger-client.ts";
import { Findings, type Check } from "./findings.ts";
import { percentilesOf, type Percentiles } from "./percentiles.ts";
import { callerKeyOf, movementOf, type WalletRun } from "./wallet-run.ts";

/** How long messages are waited for after the last reply. */
const lastMessagesMsMax = 5_000;
const pollMs = 50;

export class MessageTimes {
  readonly #walletRun: WalletRun;
  /** Of each wallet: when the reply to the write with a seq came, and when its first message did. */
  readonly #replies: Map<number, number>[];
  readonly #messages: Map<number, number>[];
  readonly #streams: { close(): void }[] = [];

  constructor(walletRun: WalletRun) {
    const { walletCount } = walletRun;
    this.#walletRun = walletRun;
    this.#replies = Array.from({ length: walletCount }, () => new Map<number, number>());
    this.#messages = Array.from({ length: walletCount }, () => new Map<number, number>());
  }

  /** Resolves when every wallet has its reader. */
  async open(client: LedgerClient): Promise<void> {
    const { ledgerId } = this.#walletRun;
    const opening = this.#messages.map(
      (messages, wallet) =>
        new Promise<void>((resolve, reject) => {
          const address = { ledgerId, callerKey: callerKeyOf(this.#walletRun, wallet) };
          const stream = client.streamWallet(address, {
            since: 0,
            onConnection: () => {
              resolve();
            },
          });
          this.#streams.push(stream);
          const read = async () => {
            for await (const { seq } of stream) {
              // A posting sends the latest seq again.
              if (!messages.has(seq)) messages.set(seq, performance.now());
            }
          };
          read().catch(reject);
        }),
    );
    await Promise.all(opening);
  }

  /** Takes in a reply. Writes come one after the other, so that a wallet's next one has its next seq. */
  addReply(number: number, atMs: number): void {
    const replies = this.#replies[movementOf(this.#walletRun, number).wallet];
    // Its first write funded it.
    replies?.set(replies.size + 2, atMs);
  }

  /** Waits for the last messages and closes the streams. */
  async finish(): Promise<{ check: Check; afterReplyMs: Percentiles }> {
    const untilMs = performance.now() + lastMessagesMsMax;
    while (this.#missing().length > 0 && performance.now() < untilMs) await sleep(pollMs);
    for (const stream of this.#streams) stream.close();
    const findings = new Findings();
    for (const text of this.#missing()) findings.add(text);
    const times = this.#replies.flatMap((replies, wallet) =>
      [...replies].map(([seq, atMs]) => (this.#messages[wallet]?.get(seq) ?? Infinity) - atMs),
    );
    return {
      check: findings.check("every acknowledged write came as a message", times.length),
      afterReplyMs: percentilesOf(times.filter(Number.isFinite)),
    };
  }

  #missing(): string[] {
    return this.#replies.flatMap((replies, wallet) =>
      [...replies.keys()]
        .filter((seq) => this.#messages[wallet]?.has(seq) !== true)
        .map((seq) => `no message had seq ${seq} of ${callerKeyOf(this.#walletRun, wallet)}`),
    );
  }
}
