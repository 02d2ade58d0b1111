// The balance of one account.
import type { Environment } from "../../../config.ts";
import type { AccountBalance } from "../../../client/ledger-client.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { requireEnd } from "../../input/arguments.ts";
import type { Column } from "../../terminal/output.ts";
import { suggestingAccounts } from "../../input/account-suggestion.ts";
import { exponentsShown, type ExponentOf } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { noteNoLines } from "../../input/no-lines-note.ts";

export interface BalanceFlags extends ServiceFlags {
  currency?: string;
  asOf?: string;
}

const columnsOf = (exponentOf: ExponentOf): readonly Column<AccountBalance>[] => [
  { title: "ACCOUNT", value: ({ glAccountCode }) => glAccountCode },
  {
    title: "BALANCE",
    align: "right",
    isAmount: true,
    value: ({ balance, currency }) => displayAmount(balance, currency, exponentOf(currency)),
  },
  { title: "ENTRIES", align: "right", value: ({ entryCount }) => String(entryCount) },
];

export async function showBalance(
  account: string,
  flags: BalanceFlags,
  environment: Environment,
): Promise<void> {
  const { currency, asOf } = flags;
  const end = asOf === undefined ? null : requireEnd("--as-of", asOf);
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const query = {
      account,
      ...(currency === undefined ? {} : { currency }),
      ...(end === null ? {} : { asOf: end }),
    };
    const id = ledgerId();
    const balance = await suggestingAccounts({ client, ledgerId: id, codes: [account] }, () =>
      client.getBalance(id, query),
    );
    const exponentOf = await exponentsShown({ client, output }, id, [balance.currency]);
    output.result(balance, (value) => output.table([value], columnsOf(exponentOf)));
    if (currency !== undefined && balance.entryCount === 0) {
      noteNoLines(output, account, currency, asOf === undefined ? null : `up to ${asOf}`);
    }
  });
}
