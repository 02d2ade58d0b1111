// `ledger list`: ledgers from the service or the database.
import type { Environment } from "../../../config.ts";
import { listLedgers as listStoredLedgers } from "../../../store/ledgers.ts";
import { withDatabase } from "../../connection/database-context.ts";
import type { DatabaseFlags, ServiceFlags } from "../../definition/options.ts";
import { Output, type Column } from "../../terminal/output.ts";
import { isServiceMeant, resolveConnection } from "../../connection/settings.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import { document, pickDocument, type LedgerDocument } from "./ledger-document.ts";

export type ListLedgersFlags = ServiceFlags & DatabaseFlags;

export async function listLedgers(
  flags: ListLedgersFlags,
  environment: Environment,
): Promise<void> {
  const warnings = new Output(flags, environment.isColorRefused);
  const connection = await resolveConnection(flags, environment, warnings);
  if (isServiceMeant(flags, connection)) {
    const run = async ({ output, client }: ServiceContext) => {
      print(output, (await client.listLedgers()).map(pickDocument));
    };
    await withService(flags, environment, run, { connection });
    return;
  }
  await withDatabase(flags, environment, async ({ output, pool }) => {
    print(output, (await listStoredLedgers(pool, null)).map(document));
  });
}

const columns: readonly Column<LedgerDocument>[] = [
  { title: "ID", leaveOut: 2, value: ({ id }) => id },
  { title: "NAME", cutTo: 12, value: ({ name }) => name },
  { title: "STATUS", value: ({ status }) => status },
  { title: "CURRENCY", value: ({ functionalCurrency }) => functionalCurrency },
  { title: "CREATED", leaveOut: 1, value: ({ createdAt }) => createdAt },
];

const csvNames = ["id", "name", "status", "functionalCurrency", "createdAt"] as const;

function print(output: Output, ledgers: readonly LedgerDocument[]): void {
  output.list(ledgers, columns, ({ id }) => id, csvNames);
}
