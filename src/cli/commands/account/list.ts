// `account list`: the chart, from the service or the database.
import type { Environment } from "../../../config.ts";
import type { Account } from "../../../core/ledger.ts";
import { listAccounts } from "../../../store/accounts.ts";
import type { AdminContext } from "../../connection/database-context.ts";
import type { DatabaseFlags, ServiceFlags } from "../../definition/options.ts";
import { Output, type Column } from "../../terminal/output.ts";
import { onLedger } from "../../connection/ledger-context.ts";
import { isServiceMeant, resolveConnection } from "../../connection/settings.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";

export type ListAccountsFlags = ServiceFlags & DatabaseFlags & { activeOnly?: boolean };

export async function listChart(flags: ListAccountsFlags, environment: Environment): Promise<void> {
  const activeOnly = flags.activeOnly === true;
  const warnings = new Output(flags, environment.isColorRefused);
  const connection = await resolveConnection(flags, environment, warnings);
  const onService = async ({ output, client, ledgerId }: ServiceContext) => {
    printAccounts(output, await client.listAccounts(ledgerId(), { activeOnly }));
  };
  const onDatabase = async (ledgerId: string, { output, pool }: AdminContext) => {
    printAccounts(output, await listAccounts(pool, ledgerId, activeOnly));
  };
  if (isServiceMeant(flags, connection)) {
    await withService(flags, environment, onService, { connection });
  } else await onLedger(flags, environment, onDatabase, connection);
}

const columns: readonly Column<Account>[] = [
  { title: "CODE", cutTo: 12, isCutInMiddle: true, value: ({ glAccountCode }) => glAccountCode },
  { title: "NAME", cutTo: 12, value: ({ name }) => name },
  { title: "TYPE", leaveOut: 2, value: ({ type }) => type ?? "" },
  { title: "ACTIVE", leaveOut: 1, value: ({ active }) => (active ? "yes" : "no") },
];

function printAccounts(output: Output, accounts: readonly Account[]): void {
  const documents = accounts.map(({ glAccountCode, name, type, active }) => ({
    glAccountCode,
    name,
    type,
    active,
  }));
  output.list(documents, columns, ({ glAccountCode }) => glAccountCode, [
    ...(["glAccountCode", "name", "type", "active"] as const),
  ]);
}
