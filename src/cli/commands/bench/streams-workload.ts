// `bench streams`: the writes of `bench wallets`, one at a time, with a reader for the stream of each wallet.
import { LedgerClient } from "../../../client/ledger-client.ts";
import { MessageTimes } from "./message-times.ts";
import type { WorkloadBench } from "./open-bench.ts";
import type { WorkloadSettings } from "./settings.ts";
import { prepareWallets } from "./wallets-workload.ts";
import type { Workload } from "./workload.ts";

export async function prepareStreams(
  bench: WorkloadBench,
  settings: WorkloadSettings,
): Promise<Workload> {
  const { walletRun, ...wallets } = await prepareWallets(bench, settings);
  const readUrl = settings.readUrl ?? bench.connection.url;
  const readClient = new LedgerClient({ ...bench.connection, url: readUrl });
  const times = new MessageTimes(walletRun);
  await times.open(readClient);
  return {
    ...wallets,
    acknowledged: (number, atMs) => {
      times.addReply(number, atMs);
    },
    verify: async (outcomes, tell) => {
      const { check, afterReplyMs } = await times.finish();
      await readClient.close();
      const verdict = await wallets.verify(outcomes, tell);
      return { ...verdict, checks: [...verdict.checks, check], messagesAfterReplyMs: afterReplyMs };
    },
  };
}
