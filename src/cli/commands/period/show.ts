// `period show`: a close with its trial balance.
import type { Environment } from "../../../config.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { members } from "../../terminal/output.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { amountColumns } from "../../terminal/balance-tables.ts";
import { findClose } from "./find-close.ts";

export async function showPeriod(
  label: string,
  flags: ServiceFlags,
  environment: Environment,
): Promise<void> {
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const id = ledgerId();
    const { closeId } = await findClose(client, id, label);
    const close = await client.getClose(id, closeId);
    const { functionalCurrency } = await client.getLedger(id);
    const exponentOf = await exponentsShown({ client, output }, id, [functionalCurrency]);
    output.result(close, ({ balances, ...record }) => {
      const table = output.table(balances, [
        { title: "ACCOUNT", value: ({ glAccountCode }) => glAccountCode },
        ...amountColumns(functionalCurrency, exponentOf(functionalCurrency)),
        { title: "ENTRIES", align: "right", value: ({ entryCount }) => String(entryCount) },
      ]);
      return `${members(record, output.terminalWidth)}\n\n${table}`;
    });
  });
}
