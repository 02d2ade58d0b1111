// `bench streams`: the writes of `bench wallets`, one at a time, with a reader for the stream of each wallet. Measured is
// when the message of a write comes, counted from its reply; one process writes and reads, so that one clock tells.
import { setTimeout as sleep } from "node:timers/promises";
import {
  LedgerClient,
  type WalletAddress,
  type WalletStream,
} from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { requireHttpUrl } from "../../connection/settings.ts";
import type { ExitCode } from "../../failure.ts";
import { Findings } from "./findings.ts";
import { readLoadSettings, readWalletCount, type LoadFlags } from "./load-flags.ts";
import { measure } from "./measure.ts";
import type { Bench } from "./open-bench.ts";
import { percentilesOf } from "./percentiles.ts";
import { callerKeyOf, movementOf } from "./wallet-writes.ts";
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
  const readUrl = flags.readUrl === undefined ? null : requireHttpUrl(flags.readUrl, "--read-url");
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
  const readClient = new LedgerClient({ ...connection, url: readUrl ?? connection.url });
  // Fails where nothing answers: a stream would keep trying.
  await readClient.getLedger(bench.ledger.id);
  const { walletRun, ...wallets } = await prepareWallets(bench, { walletCount });
  const { ledgerId } = walletRun;
  const readers = await Promise.all(
    Array.from({ length: walletCount }, (_, wallet) =>
      openReader(readClient, { ledgerId, callerKey: callerKeyOf(walletRun, wallet) }),
    ),
  );
  return {
    ...wallets,
    acknowledged: (number, atMs) => {
      const replies = readers[movementOf(walletRun, number).wallet]?.replies;
      // Writes come one after the other, so that a wallet's next one has its next seq. Its first write funded it.
      replies?.set(replies.size + 2, atMs);
    },
    verify: async (outcomes) => {
      const messages = await finish(readers);
      await readClient.close();
      const verdict = await wallets.verify(outcomes);
      return { ...verdict, ...messages, checks: [...verdict.checks, ...messages.checks] };
    },
  };
}

/** Reads the stream of a wallet. */
interface Reader {
  readonly callerKey: string;
  /** When the reply to the write with a seq came. */
  readonly replies: Map<number, number>;
  /** When the first message with a seq came. */
  readonly messages: Map<number, number>;
  readonly stream: WalletStream;
}

/** Resolves when the stream is connected. */
async function openReader(client: LedgerClient, wallet: WalletAddress): Promise<Reader> {
  const messages = new Map<number, number>();
  const stream = await new Promise<WalletStream>((resolve, reject) => {
    const opened = client.streamWallet(wallet, {
      since: 0,
      onConnection: (state) => {
        if (state === "connected") resolve(opened);
      },
    });
    const read = async () => {
      for await (const { seq } of opened) {
        // A posting sends the latest seq again.
        if (!messages.has(seq)) messages.set(seq, performance.now());
      }
    };
    read().catch(reject);
  });
  return { callerKey: wallet.callerKey, replies: new Map(), messages, stream };
}

/** Waits for the last messages and closes the streams. */
async function finish(
  readers: readonly Reader[],
): Promise<Pick<Verdict, "checks" | "messagesAfterReplyMs">> {
  const untilMs = performance.now() + lastMessagesMsMax;
  while (missing(readers).next().done !== true && performance.now() < untilMs) await sleep(pollMs);
  for (const { stream } of readers) stream.close();
  const times = readers.flatMap(({ replies, messages }) =>
    [...replies].map(([seq, atMs]) => (messages.get(seq) ?? Infinity) - atMs),
  );
  const name = "every acknowledged write came as a message";
  return {
    checks: [new Findings(missing(readers)).check(name, times.length)],
    messagesAfterReplyMs: percentilesOf(times.filter(Number.isFinite)),
  };
}

function* missing(readers: readonly Reader[]): Generator<string> {
  for (const { callerKey, replies, messages } of readers) {
    for (const seq of replies.keys()) {
      if (!messages.has(seq)) yield `no message had seq ${seq} of ${callerKey}`;
    }
  }
}
