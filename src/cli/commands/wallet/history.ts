// `wallet history`: a wallet's log, page by page.
import type { Environment } from "../../../config.ts";
import type { LedgerClient, WalletAddress, WalletLogEntry } from "../../../client/ledger-client.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { toJson, type Column } from "../../terminal/output.ts";
import { withService } from "../../connection/service-context.ts";
import { outputDrained } from "../../terminal/output-drained.ts";
import { requireWholeNumber } from "../../input/whole-number.ts";
import { amountsOf } from "./wallet-asset.ts";
import { addressOf, requireWalletName } from "./wallet-arguments.ts";

export interface HistoryFlags extends ServiceFlags {
  after?: string;
  limit?: string;
}

const limitForPeople = 50;

/** The most that the service gives at once. */
const pageLimit = 100;

export async function listWalletHistory(
  key: string,
  flags: HistoryFlags,
  environment: Environment,
): Promise<undefined> {
  const name = requireWalletName(key);
  const after = flags.after === undefined ? 0 : requireWholeNumber("--after", flags.after, 0);
  const limit = readLimit(flags);
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const rows: WalletLogEntry[] = [];
    let isMore = false;
    const wallet = addressOf(name, ledgerId);
    for await (const page of pages(client, wallet, after, limit)) {
      isMore = page.hasMore;
      if (!output.isJson) rows.push(...page.writes);
      else for (const write of page.writes) output.line(toJson(write));
      await outputDrained();
    }
    if (!output.isJson) output.list(rows, columnsOf(await amountsOf(output, client, wallet)));
    const lastSeq = rows.at(-1)?.seq;
    if (isMore && lastSeq !== undefined) {
      output.note(`there are more: --after ${lastSeq} goes on, --limit 0 lists everything`);
    }
  });
}

/** Infinity for all. */
function readLimit(flags: HistoryFlags): number {
  // A script that silently got the first 50 would be wrong; people can be told that there are more.
  if (flags.limit === undefined) return flags.json === true ? Infinity : limitForPeople;
  const limit = requireWholeNumber("--limit", flags.limit, 0);
  return limit === 0 ? Infinity : limit;
}

async function* pages(client: LedgerClient, wallet: WalletAddress, after: number, limit: number) {
  let seq: number | undefined = after;
  for (let left = limit; left > 0 && seq !== undefined;) {
    const page = await client.listWalletWrites(wallet, {
      after: seq,
      limit: Math.min(left, pageLimit),
    });
    yield page;
    left -= page.writes.length;
    seq = page.hasMore ? page.writes.at(-1)?.seq : undefined;
  }
}

const columnsOf = (shown: (amount: string) => string): readonly Column<WalletLogEntry>[] => [
  { title: "SEQ", align: "right", value: ({ seq }) => String(seq) },
  { title: "AT", value: ({ at }) => at },
  { title: "TYPE", value: ({ type }) => type },
  { title: "AMOUNT", align: "right", value: ({ amount }) => shown(amount) },
  { title: "BALANCE", align: "right", value: ({ balance }) => shown(balance) },
  { title: "HELD", align: "right", value: ({ held }) => shown(held) },
  { title: "EXTERNAL ID", value: ({ externalId }) => externalId ?? "" },
  { title: "HOLD", value: ({ holdId }) => holdId ?? "" },
  { title: "POSTED WITH", value: ({ journalId }) => journalId ?? "" },
];
