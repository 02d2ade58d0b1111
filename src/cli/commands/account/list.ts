// `account list`: the chart, from the service or the database.
import type { Environment } from "../../../config.ts";
import type { Account } from "../../../core/ledger.ts";
import { listAccounts } from "../../../store/accounts.ts";
import type { AdminContext } from "../../connection/database-context.ts";
import { usageFailure } from "../../failure.ts";
import type { DatabaseFlags, ServiceFlags } from "../../definition/options.ts";
import { csvText } from "../../terminal/csv-text.ts";
import { Output, type Column } from "../../terminal/output.ts";
import { onLedger } from "../../connection/ledger-context.ts";
import { isServiceMeant, resolveConnection } from "../../connection/settings.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";

export type ListAccountsFlags = ServiceFlags &
  DatabaseFlags & { activeOnly?: boolean; csv?: boolean };

export async function listChart(flags: ListAccountsFlags, environment: Environment): Promise<void> {
  const activeOnly = flags.activeOnly === true;
  const isCsv = flags.csv === true;
  if (isCsv && flags.json === true) throw usageFailure("--csv and --json exclude each other");
  const warnings = new Output(flags, environment.isColorRefused);
  const connection = await resolveConnection(flags, environment, warnings);
  const onService = async ({ output, client, ledgerId }: ServiceContext) => {
    printAccounts(output, isCsv, await client.listAccounts(ledgerId(), { activeOnly }));
  };
  const onDatabase = async (ledgerId: string, { output, pool }: AdminContext) => {
    printAccounts(output, isCsv, await listAccounts(pool, ledgerId, activeOnly));
  };
  if (isServiceMeant(flags, connection)) {
    await withService(flags, environment, onService, { connection });
  } else await onLedger(flags, environment, onDatabase, connection);
}

const columns: readonly Column<Account>[] = [
  { title: "CODE", value: ({ glAccountCode }) => glAccountCode },
  { title: "NAME", value: ({ name }) => name },
  { title: "TYPE", value: ({ type }) => type ?? "" },
  { title: "ACTIVE", value: ({ active }) => (active ? "yes" : "no") },
];

function printAccounts(output: Output, isCsv: boolean, accounts: readonly Account[]): void {
  const documents = accounts.map(({ glAccountCode, name, type, active }) => ({
    glAccountCode,
    name,
    type,
    active,
  }));
  if (isCsv) {
    const header = ["glAccountCode", "name", "type", "active"];
    const rows = documents.map((document) => Object.values(document));
    output.verbatim(csvText(header, rows));
  } else output.list(documents, columns, ({ glAccountCode }) => glAccountCode);
}
