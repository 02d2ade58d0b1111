// `wallet history`: a wallet's log, page by page.
import type { Environment } from "../../../config.ts";
import type { WalletLogEntry } from "../../../client/ledger-client.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import type { Column } from "../../terminal/output.ts";
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
      if (output.isForPrograms) output.list(page.writes, [], null, csvNames);
      else rows.push(...page.writes);
      await output.drained();
    }
    if (!output.isForPrograms) {
      const hasTransfers = rows.some(({ counterparty }) => counterparty !== undefined);
      const columns = columnsOf(await amountsOf(output, client, wallet));
      output.list(
        rows,
        columns.filter(({ title }) => hasTransfers || title !== "COUNTERPARTY"),
      );
    }
    const lastSeq = rows.at(-1)?.seq;
    if (isMore && lastSeq !== undefined) noteMore(output, lastSeq);
  });
}

const csvNames = [
  ...["seq", "type", "amount", "balance", "held", "externalId", "metadata", "holdId"],
  ...["at", "journalId", "transferId", "counterparty"],
] as (keyof WalletLogEntry)[];

const columnsOf = (shown: (amount: string) => string): readonly Column<WalletLogEntry>[] => [
  { title: "SEQ", align: "right", value: ({ seq }) => String(seq) },
  { title: "AT", value: ({ at }) => at, shortValue: ({ at }) => at.replace(/\.[0-9]{3}Z$/, "Z") },
  { title: "TYPE", value: ({ type }) => type },
  { title: "AMOUNT", align: "right", isAmount: true, value: ({ amount }) => shown(amount) },
  { title: "BALANCE", align: "right", isAmount: true, value: ({ balance }) => shown(balance) },
  { title: "HELD", align: "right", isAmount: true, leaveOut: 4, value: ({ held }) => shown(held) },
  { title: "COUNTERPARTY", leaveOut: 5, value: ({ counterparty }) => counterparty ?? "" },
  { title: "EXTERNAL ID", leaveOut: 3, value: ({ externalId }) => externalId ?? "" },
  { title: "HOLD", leaveOut: 2, value: ({ holdId }) => holdId ?? "" },
  { title: "POSTED WITH", leaveOut: 1, value: ({ journalId }) => journalId ?? "" },
];
