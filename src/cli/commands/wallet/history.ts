// `wallet history`: a wallet's log, page by page.
import type { Environment } from "../../../config.ts";
import type { WalletLogEntry } from "../../../client/ledger-client.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { toJson, type Column, outputDrained } from "../../terminal/output.ts";
import { noteMore, pages, readRange, type RangeFlags } from "../../connection/pages.ts";
import { amountsOf } from "./wallet-asset.ts";
import { withWallet } from "./wallet-context.ts";

export type HistoryFlags = ServiceFlags & RangeFlags;

export async function listWalletHistory(
  key: string,
  flags: HistoryFlags,
  environment: Environment,
): Promise<void> {
  const range = readRange(flags);
  await withWallet(key, flags, environment, async ({ client, wallet, output }) => {
    const rows: WalletLogEntry[] = [];
    let isMore = false;
    const listed = pages(
      (part) => client.listWalletWrites(wallet, part),
      ({ writes }) => writes.map(({ seq }) => seq),
      range,
    );
    for await (const page of listed) {
      isMore = page.hasMore;
      if (!output.isJson) rows.push(...page.writes);
      else for (const write of page.writes) output.line(toJson(write));
      await outputDrained();
    }
    if (!output.isJson) output.list(rows, columnsOf(await amountsOf(output, client, wallet)));
    const lastSeq = rows.at(-1)?.seq;
    if (isMore && lastSeq !== undefined) noteMore(output, lastSeq);
  });
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
