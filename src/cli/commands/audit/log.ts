// `audit log`: the newest acts of administration.
import type { Environment } from "../../../config.ts";
import {
  listAdministrationActs,
  type AdministrationAct,
} from "../../../store/administration-acts.ts";
import { requireWholeNumber } from "../../input/arguments.ts";
import { withDatabase } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import type { Column } from "../../terminal/output.ts";

export interface AuditLogFlags extends DatabaseFlags {
  limit?: string;
}

const limitDefault = 50;

export async function listActs(flags: AuditLogFlags, environment: Environment): Promise<void> {
  const limit =
    flags.limit === undefined ? limitDefault : requireWholeNumber("--limit", flags.limit, 1);
  await withDatabase(flags, environment, async ({ output, pool }) => {
    const { acts, total } = await listAdministrationActs(pool, limit);
    output.list(acts, columns, ({ number }) => String(number), csvNames);
    const older = total - acts.length;
    if (older > 0) output.note(`${older} older acts: use --limit`);
  });
}

const csvNames = [
  ...["number", "at", "operator", "databaseRole", "program", "kind", "subject", "ledgerId"],
  ...["record", "hash"],
] as (keyof AdministrationAct)[];

const columns: readonly Column<AdministrationAct>[] = [
  { title: "ACT", align: "right", value: ({ number }) => String(number) },
  { title: "AT", leaveOut: 4, value: ({ at }) => at, shortValue: ({ at }) => at.slice(0, 10) },
  { title: "OPERATOR", cutTo: 8, leaveOut: 3, value: ({ operator }) => operator ?? "" },
  { title: "ROLE", leaveOut: 2, value: ({ databaseRole }) => databaseRole },
  { title: "PROGRAM", leaveOut: 1, value: ({ program }) => program },
  { title: "DONE", value: ({ kind, subject }) => `${kind} ${nouns[subject] ?? subject}` },
  { title: "AS", cutTo: 12, value: describeRecord },
];

/** What a row of a table is. */
const nouns: Readonly<Record<string, string>> = {
  organizations: "organization",
  api_keys: "API key",
  ledgers: "ledger",
  ledger_states: "state of ledger",
  accounts: "account",
  asset_rules: "asset rule",
  period_closes: "close",
  wallet_digest_completions: "digests of older wallet logs",
};

/** The members of a row that are no times of the act itself, without those that are null. */
function describeRecord({ record }: AdministrationAct): string {
  return Object.entries(record)
    .filter(([name, value]) => value !== null && !/^(created|changed|completed)_at$/.test(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}
