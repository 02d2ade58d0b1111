// `ledger create`: a ledger, with a chart of accounts where a file holds one.
import type { Environment } from "../../../config.ts";
import { createLedger } from "../../../engine/administration.ts";
import { requireCurrency, requireLabel } from "../../input/arguments.ts";
import { refuseUnknownCurrency, type CurrencyFlags } from "../../input/currency-guard.ts";
import { readChart } from "../../input/chart-file.ts";
import { withDatabase } from "../../connection/database-context.ts";
import { findStoredOrganization } from "../../connection/stored-names.ts";
import { notFoundFailure } from "../../failure.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { document } from "./ledger-document.ts";

export interface CreateLedgerFlags extends DatabaseFlags, CurrencyFlags {
  org: string;
  currency: string;
  chart?: string;
  closesInOrder?: boolean;
}

export async function createLedgerWithChart(
  name: string,
  flags: CreateLedgerFlags,
  environment: Environment,
): Promise<void> {
  requireLabel("NAME", name);
  const functionalCurrency = requireCurrency("--currency", flags.currency);
  refuseUnknownCurrency("--currency", functionalCurrency, flags);
  requireLabel("--org", flags.org);
  const chart = flags.chart === undefined ? [] : await readChart(flags.chart);
  await withDatabase(flags, environment, async ({ output, pool, now }) => {
    const organizationId = await findStoredOrganization(pool, "--org", flags.org);
    const ledger = await createLedger(pool, {
      organizationId,
      name,
      functionalCurrency,
      chart,
      closesInOrder: flags.closesInOrder === true,
      createdAt: now(),
    });
    if (ledger === null) throw notFoundFailure(`there is no organization ${organizationId}`);
    output.created(document(ledger), ({ id }) => id);
  });
}
