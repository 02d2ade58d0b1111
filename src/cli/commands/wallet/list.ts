// `wallet list`: the wallets of a ledger, page by page.
import type { Environment } from "../../../config.ts";
import type { Wallet, WalletListQuery } from "../../../client/ledger-client.ts";
import { exponentsShown, type ExponentOf } from "../../connection/exponents.ts";
import { pageLimit, readRange } from "../../connection/pages.ts";
import { withService } from "../../connection/service-context.ts";
import { requireCurrency, requireLabel } from "../../input/arguments.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import type { Column } from "../../terminal/output.ts";

export interface WalletListFlags extends ServiceFlags {
  prefix?: string;
  asset?: string;
  limit?: string;
}

export async function listWallets(flags: WalletListFlags, environment: Environment): Promise<void> {
  const { limit } = readRange(flags);
  const filter = readFilter(flags);
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const id = ledgerId();
    const rows: Wallet[] = [];
    let left = limit;
    let cursor: string | null = null;
    do {
      const page: { readonly cursor?: string } = cursor === null ? {} : { cursor };
      const part = { ...filter, ...page, limit: Math.min(left, pageLimit) };
      const listed = await client.listWallets(id, part);
      left -= listed.wallets.length;
      cursor = listed.nextCursor;
      if (output.isForPrograms) output.list(listed.wallets, [], null, csvNames);
      else rows.push(...listed.wallets);
      await output.drained();
    } while (cursor !== null && left > 0);
    if (output.isForPrograms) return;
    const assets = [...new Set(rows.map(({ assetCode }) => assetCode))];
    const columns = columnsOf(await exponentsShown({ client, output }, id, assets));
    const hasFrozen = rows.some(({ frozenAt }) => frozenAt !== undefined);
    output.list(rows, hasFrozen ? [...columns, frozenColumn] : columns);
    if (cursor !== null) output.note("there are more: --limit 0 lists everything");
  });
}

const csvNames = [
  ...["callerKey", "assetCode", "balance", "available", "held", "seq", "createdAt", "updatedAt"],
  "frozenAt",
] as (keyof Wallet)[];

const frozenColumn: Column<Wallet> = {
  title: "FROZEN SINCE",
  value: ({ frozenAt }) => frozenAt ?? "",
};

function readFilter({ prefix, asset }: WalletListFlags): WalletListQuery {
  return {
    ...(prefix === undefined ? {} : { prefix: requireLabel("--prefix", prefix) }),
    ...(asset === undefined ? {} : { assetCode: requireCurrency("--asset", asset) }),
  };
}

function columnsOf(exponentOf: ExponentOf): readonly Column<Wallet>[] {
  const shown = (figure: "balance" | "available" | "held") => (wallet: Wallet) =>
    displayAmount(wallet[figure], wallet.assetCode, exponentOf(wallet.assetCode));
  const amount = { align: "right", isAmount: true } as const;
  return [
    { title: "WALLET", value: ({ callerKey }) => callerKey },
    { ...amount, title: "BALANCE", value: shown("balance") },
    { ...amount, title: "AVAILABLE", value: shown("available") },
    { ...amount, title: "HELD", leaveOut: 3, value: shown("held") },
    { title: "SEQ", align: "right", leaveOut: 2, value: ({ seq }) => String(seq) },
    { title: "UPDATED", leaveOut: 1, value: ({ updatedAt }) => updatedAt },
  ];
}
