// `entry show`: an entry's labels and a table of its lines.
import type { Environment } from "../../../config.ts";
import type { Entry, EntryLine, PostedWritePage } from "../../../client/ledger-client.ts";
import { requireEntryId } from "../../input/arguments.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { members, type Column, type Output } from "../../terminal/output.ts";
import { exponentsShown, type ExponentOf } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { counted } from "../../terminal/counted.ts";

export async function showEntry(
  id: string,
  flags: ServiceFlags,
  environment: Environment,
): Promise<void> {
  const entryId = requireEntryId(id);
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const entry = await client.getEntry(ledgerId(), entryId);
    const posted = await client.listPostedWrites(ledgerId(), entryId, { limit: 100 });
    const codes = entry.lines.flatMap((line) => [
      line.functionalCurrency,
      line.transactionCurrency,
    ]);
    const exponentOf = await exponentsShown({ client, output }, ledgerId(), codes);
    output.result(
      entry,
      () =>
        describeEntry(entry, output, exponentOf) +
        describePosted(posted, entry, output, exponentOf),
    );
  });
}

function describeEntry(entry: Entry, output: Output, exponentOf: ExponentOf): string {
  const { lines, metadata, sequence, ...labels } = entry;
  const header: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...labels, sequence: String(sequence) })) {
    if (value !== null) header[name] = value;
  }
  if (Object.keys(metadata).length > 0) header["metadata"] = JSON.stringify(metadata);
  return `${members(header, output.terminalWidth)}\n\n${output.table(lines, lineColumns(lines, exponentOf))}`;
}

/** What a posting of wallets holds: the first of its writes, and how many there are. */
function describePosted(
  { writes, total, hasMore }: PostedWritePage,
  { lines }: Entry,
  output: Output,
  exponentOf: ExponentOf,
): string {
  if (total === 0) return "";
  // Wallets of one asset are posted together, in lines of that asset.
  const asset = lines[0]?.transactionCurrency ?? "";
  const table = output.table(writes, [
    { title: "WALLET", value: ({ callerKey }) => callerKey },
    { title: "SEQ", align: "right", value: ({ seq }) => String(seq) },
    { title: "TYPE", value: ({ type }) => type },
    {
      title: "AMOUNT",
      align: "right",
      isAmount: true,
      value: ({ amount }) => displayAmount(amount, asset, exponentOf(asset)),
    },
    { title: "EXTERNAL ID", leaveOut: 1, value: ({ externalId }) => externalId ?? "" },
    { title: "AT", leaveOut: 2, value: ({ at }) => at },
  ]);
  return `\n\n${counted(total, "wallet write")}${hasMore ? `, the first ${writes.length}` : ""}:\n\n${table}`;
}

/** Columns that no line has anything in are left out. */
function lineColumns(lines: readonly EntryLine[], exponentOf: ExponentOf): Column<EntryLine>[] {
  const amount = (smallest: string, currency: string) =>
    displayAmount(smallest, currency, exponentOf(currency));
  const isForeign = lines.some((line) => line.transactionCurrency !== line.functionalCurrency);
  const columns: Column<EntryLine>[] = [
    { title: "ACCOUNT", value: ({ glAccountCode }) => glAccountCode },
    {
      title: "AMOUNT",
      align: "right",
      isAmount: true,
      value: (line) => amount(line.functionalAmount, line.functionalCurrency),
    },
    {
      title: "TRANSACTION",
      align: "right",
      isAmount: true,
      value: (line) => (isForeign ? amount(line.transactionAmount, line.transactionCurrency) : ""),
    },
    { title: "RATE", align: "right", value: ({ spotRate }) => String(spotRate ?? "") },
    { title: "DESCRIPTION", cutTo: 12, value: ({ description }) => description ?? "" },
  ];
  return columns.filter(({ value }) => lines.some((line) => value(line) !== ""));
}
