// `bench streams`: the writes of `bench wallets`, one at a time, with a reader for the stream of each wallet. Measured is
// when the message of a write comes, counted from its reply; one process writes and reads, so that one clock tells.
import { setTimeout as sleep } from "node:timers/promises";
import { LedgerClient } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { requireHttpUrl } from "../../connection/settings.ts";
import type { ExitCode } from "../../failure.ts";
import { checkOf } from "./findings.ts";
import { readLoadSettings, readWalletCount, type LoadFlags } from "./load-flags.ts";
import { measure } from "./measure.ts";
import type { Bench } from "./open-bench.ts";
import { percentilesOf } from "./percentiles.ts";
import { callerKeyOf, movementOf, type WalletRun } from "./wallet-writes.ts";
import { prepareWallets } from "./wallets.ts";
import type { Verdict, Workload } from "./workload.ts";

export interface StreamsFlags extends Omit<LoadFlags, "connections"> {
  wallets: string;
  readUrl?: string;
}

/** How long messages are waited for after the last reply. */
const lastMessagesMsMax = 5_000;
const pollMs = 50;

export async function benchStreams(
  flags: StreamsFlags,
  environment: Environment,
): Promise<ExitCode> {
  const settings = readLoadSettings({ ...flags, connections: "1" });
  const walletCount = readWalletCount(flags.wallets);
  const readUrl = flags.readUrl === undefined ? null : requireHttpUrl(flags.readUrl);
  return measure("streams", flags, environment, {
    prepare: (bench) => prepareStreams(bench, walletCount, readUrl),
    load: async (runLoad) => ({ load: await runLoad(settings) }),
  });
}

/** `readUrl` is where streams are read; null: where is written. */
async function prepareStreams(
  bench: Bench,
  walletCount: number,
  readUrl: string | null,
): Promise<Workload> {
  const { connection } = bench;
  const { walletRun, ...wallets } = await prepareWallets(bench, { walletCount });
  const readClient = new LedgerClient({ ...connection, url: readUrl ?? connection.url });
  const times = new MessageTimes(walletRun);
  await times.open(readClient);
  return {
    ...wallets,
    acknowledged: (number, atMs) => {
      times.addReply(number, atMs);
    },
    verify: async (outcomes) => {
      const messages = await times.finish();
      await readClient.close();
      const verdict = await wallets.verify(outcomes);
      return { ...verdict, ...messages, checks: [...verdict.checks, ...messages.checks] };
    },
  };
}

class MessageTimes {
  readonly #walletRun: WalletRun;
  /** Of each wallet: when the reply to the write with a seq came, and when its first message did. */
  readonly #wallets: { replies: Map<number, number>; messages: Map<number, number> }[];
  readonly #streams: { close(): void }[] = [];

  constructor(walletRun: WalletRun) {
    this.#walletRun = walletRun;
    this.#wallets = Array.from({ length: walletRun.walletCount }, () => ({
      replies: new Map(),
      messages: new Map(),
    }));
  }

  /** Resolves when every wallet has its reader. */
  async open(client: LedgerClient): Promise<void> {
    const { ledgerId } = this.#walletRun;
    const opening = this.#wallets.map(
      ({ messages }, wallet) =>
        new Promise<void>((resolve, reject) => {
          const address = { ledgerId, callerKey: callerKeyOf(this.#walletRun, wallet) };
          const onConnection = () => {
            resolve();
          };
          const stream = client.streamWallet(address, { since: 0, onConnection });
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
    const replies = this.#wallets[movementOf(this.#walletRun, number).wallet]?.replies;
    // Its first write funded it.
    replies?.set(replies.size + 2, atMs);
  }

  /** Waits for the last messages and closes the streams. */
  async finish(): Promise<Pick<Verdict, "checks" | "messagesAfterReplyMs">> {
    const untilMs = performance.now() + lastMessagesMsMax;
    while (this.#missing().length > 0 && performance.now() < untilMs) await sleep(pollMs);
    for (const stream of this.#streams) stream.close();
    const times = this.#wallets.flatMap(({ replies, messages }) =>
      [...replies].map(([seq, atMs]) => (messages.get(seq) ?? Infinity) - atMs),
    );
    return {
      checks: [
        checkOf("every acknowledged write came as a message", times.length, this.#missing()),
      ],
      messagesAfterReplyMs: percentilesOf(times.filter(Number.isFinite)),
    };
  }

  #missing(): string[] {
    return this.#wallets.flatMap(({ replies, messages }, wallet) =>
      [...replies.keys()]
        .filter((seq) => !messages.has(seq))
        .map((seq) => `no message had seq ${seq} of ${callerKeyOf(this.#walletRun, wallet)}`),
    );
  }
}
