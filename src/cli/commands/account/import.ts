// `account import`: a chart from a CSV.
import type { Environment } from "../../../config.ts";
import type { LedgerClient } from "../../../client/ledger-client.ts";
import { bulkItemsMax } from "../../../contract/field-schemas.ts";
import { importAccounts, type ChartRow } from "../../../engine/accounts.ts";
import { readChart } from "../../input/chart-file.ts";
import { administerLedger, type AdministrationFlags } from "../../connection/administration.ts";
import type { Output } from "../../terminal/output.ts";
import { inUseFailure } from "./in-use-failure.ts";

interface Counts {
  readonly added: number;
  readonly updated: number;
}

export async function importChart(
  file: string,
  flags: AdministrationFlags,
  environment: Environment,
): Promise<void> {
  const chart = await readChart(file);
  const print = (output: Output, { added, updated }: Counts) => {
    const unchanged = chart.length - added - updated;
    output.result(
      { added, updated },
      () => `${added} added, ${updated} updated, ${unchanged} unchanged`,
    );
  };
  await administerLedger(flags, environment, {
    onService: async (ledgerId, { output, client }) => {
      print(output, await importByService(client, ledgerId, chart));
    },
    onDatabase: async (ledgerId, { output, pool }) => {
      const imported = await importAccounts(pool, ledgerId, chart);
      if (imported.outcome === "accountsInUse") throw inUseFailure(imported);
      print(output, imported);
    },
  });
}

/** In bulks, each of them whole or not at all. The API does not say what was new: that is seen by what was there before. */
async function importByService(
  client: LedgerClient,
  ledgerId: string,
  chart: readonly ChartRow[],
): Promise<Counts> {
  const textOf = ({ name, type, active }: Omit<ChartRow, "glAccountCode">) =>
    JSON.stringify([name, type, active]);
  const accounts = await client.listAccounts(ledgerId);
  const before = new Map(accounts.map((account) => [account.glAccountCode, textOf(account)]));
  let added = 0;
  let updated = 0;
  for (let from = 0; from < chart.length; from += bulkItemsMax) {
    const bulk = chart.slice(from, from + bulkItemsMax);
    for (const account of await client.importAccounts(ledgerId, bulk)) {
      const text = before.get(account.glAccountCode);
      if (text === undefined) added += 1;
      else if (text !== textOf(account)) updated += 1;
    }
  }
  return { added, updated };
}
