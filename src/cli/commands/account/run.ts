// Adding, importing, switching and listing accounts.
import type { Environment } from "../../../config.ts";
import type { Account } from "../../../core/ledger.ts";
import { accountTypes } from "../../../core/ledger.ts";
import { importAccounts, setAccountActive } from "../../../engine/accounts.ts";
import { insertAccount, listAccounts } from "../../../store/accounts.ts";
import { requireLabel } from "../../input/arguments.ts";
import type { AdminContext } from "../../connection/database-context.ts";
import { isAccountType, readChart } from "../../input/chart-file.ts";
import { CommandFailure, exitCodes, notFoundFailure, usageFailure } from "../../failure.ts";
import type { DatabaseFlags, ServiceFlags } from "../../options.ts";
import { suggestion } from "../../input/suggestion.ts";
import { csvText } from "../../terminal/csv-text.ts";
import { Output, type Column } from "../../terminal/output.ts";
import { onLedger } from "../../connection/ledger-context.ts";
import { isServiceMeant, resolveConnection } from "../../connection/target.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";

export interface AccountFlags extends DatabaseFlags {
  ledger?: string;
}

export interface AddAccountFlags extends AccountFlags {
  type?: string;
}

export type ListAccountsFlags = ServiceFlags &
  DatabaseFlags & { activeOnly?: boolean; csv?: boolean };

export async function addAccount(
  code: string,
  name: string,
  flags: AddAccountFlags,
  environment: Environment,
): Promise<void> {
  requireLabel("CODE", code);
  requireLabel("NAME", name);
  const type = flags.type ?? null;
  if (type !== null && !isAccountType(type)) {
    throw usageFailure(`--type must be one of ${accountTypes.join(", ")}`);
  }
  await onLedger(flags, environment, async (ledgerId, { output, pool, now }) => {
    const account = { glAccountCode: code, name, type, active: true };
    const added = await insertAccount(pool, ledgerId, account, now());
    if (added === null) {
      throw new CommandFailure(
        `the ledger already has an account ${code}; \`ledgerctl account import\` renames accounts`,
        exitCodes.conflict,
      );
    }
    output.created(added, ({ glAccountCode }) => glAccountCode);
  });
}

export async function importAccountsCommand(
  file: string,
  flags: AccountFlags,
  environment: Environment,
): Promise<void> {
  const chart = await readChart(file);
  await onLedger(flags, environment, async (ledgerId, { output, pool, connections, now }) => {
    const imported = await importAccounts(connections, pool, ledgerId, chart, now());
    if (imported.outcome === "accountInUse") throw inUseFailure(imported);
    const { added, updated } = imported;
    const unchanged = chart.length - added - updated;
    output.result(
      { added, updated },
      () => `${added} added, ${updated} updated, ${unchanged} unchanged`,
    );
  });
}

export async function setAccountActiveCommand(
  code: string,
  active: boolean,
  flags: AccountFlags,
  environment: Environment,
): Promise<void> {
  await onLedger(flags, environment, async (ledgerId, { output, pool, connections }) => {
    const change = await setAccountActive(connections, pool, ledgerId, code, active);
    if (change.outcome === "accountInUse") throw inUseFailure(change);
    if (change.outcome === "accountNotFound") {
      const known = (await listAccounts(pool, ledgerId, false)).map(
        ({ glAccountCode }) => glAccountCode,
      );
      throw notFoundFailure(`the ledger has no account ${code}${suggestion(code, known)}`);
    }
    output.result(change.account, () => `account ${code} is ${active ? "active" : "inactive"}`);
  });
}

function inUseFailure(use: { glAccountCode: string; assetCodes: readonly string[] }) {
  return new CommandFailure(
    `wallets of ${use.assetCodes.join(", ")} are posted to account ${use.glAccountCode}; ` +
      "give them another with `ledgerctl asset set` first",
    exitCodes.conflict,
  );
}

export async function listAccountsCommand(
  flags: ListAccountsFlags,
  environment: Environment,
): Promise<void> {
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
  if (isCsv) {
    const header = ["glAccountCode", "name", "type", "active"];
    const rows = accounts.map(({ glAccountCode, name, type, active }) => [
      ...[glAccountCode, name, type, active],
    ]);
    output.verbatim(csvText(header, rows));
    return;
  }
  const documents = accounts.map(({ glAccountCode, name, type, active }) => ({
    glAccountCode,
    name,
    type,
    active,
  }));
  output.list(documents, columns, ({ glAccountCode }) => glAccountCode);
}
