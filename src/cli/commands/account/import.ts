// `account import`: a chart from a CSV.
import type { Environment } from "../../../config.ts";
import { importAccounts } from "../../../engine/accounts.ts";
import { readChart } from "../../input/chart-file.ts";
import { onLedger, type LedgerFlags } from "../../connection/ledger-context.ts";
import { inUseFailure } from "./in-use-failure.ts";

export async function importChart(
  file: string,
  flags: LedgerFlags,
  environment: Environment,
): Promise<void> {
  const chart = await readChart(file);
  await onLedger(flags, environment, async (ledgerId, { output, pool, now }) => {
    const imported = await importAccounts(pool, ledgerId, chart, now());
    if (imported.outcome === "accountInUse") throw inUseFailure(imported);
    const { added, updated } = imported;
    const unchanged = chart.length - added - updated;
    output.result(
      { added, updated },
      () => `${added} added, ${updated} updated, ${unchanged} unchanged`,
    );
  });
}
