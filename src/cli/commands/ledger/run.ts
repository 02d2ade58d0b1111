// Making and listing ledgers and changing their state.
import type { Environment } from "../../../config.ts";
import type { LedgerStatus } from "../../../core/ledger.ts";
import { createLedger } from "../../../engine/administration.ts";
import { changeLedgerStatus } from "../../../engine/ledger-state.ts";
import { findLedger, listLedgers, type LedgerRecord } from "../../../store/ledgers.ts";
import { requireCurrency, requireId, requireLabel } from "../../input/arguments.ts";
import { readChart } from "../../input/chart-file.ts";
import { confirm } from "../../terminal/confirm.ts";
import { withDatabase } from "../../connection/database-context.ts";
import { CommandFailure, exitCodes, notFoundFailure } from "../../failure.ts";
import type { DatabaseFlags, ServiceFlags } from "../../options.ts";
import { Output, type Column } from "../../terminal/output.ts";
import { isServiceMeant, resolveConnection } from "../../connection/target.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";

export interface CreateLedgerFlags extends DatabaseFlags {
  org: string;
  currency: string;
  chart?: string;
  closesInOrder?: boolean;
}

export type ListLedgersFlags = ServiceFlags & DatabaseFlags;

export interface ChangeStateFlags extends DatabaseFlags {
  yes?: boolean;
}

interface LedgerDocument {
  readonly id: string;
  readonly name: string;
  readonly status: LedgerStatus;
  readonly functionalCurrency: string;
  readonly createdAt: string;
}

export async function createLedgerCommand(
  name: string,
  flags: CreateLedgerFlags,
  environment: Environment,
): Promise<void> {
  requireLabel("NAME", name);
  const functionalCurrency = requireCurrency("--currency", flags.currency);
  const organizationId = requireId("--org", flags.org);
  const chart = flags.chart === undefined ? [] : await readChart(flags.chart);
  await withDatabase(flags, environment, async ({ output, pool, now }) => {
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

export async function listLedgersCommand(
  flags: ListLedgersFlags,
  environment: Environment,
): Promise<void> {
  const warnings = new Output(flags, environment.isColorRefused);
  const connection = await resolveConnection(flags, environment, warnings);
  if (isServiceMeant(flags, connection)) {
    const run = async ({ output, client }: ServiceContext) => {
      printLedgers(output, (await client.listLedgers()).map(pickDocument));
    };
    await withService(flags, environment, run, { connection });
    return;
  }
  await withDatabase(flags, environment, async ({ output, pool }) => {
    printLedgers(output, (await listLedgers(pool, null)).map(document));
  });
}

export async function changeState(
  idText: string,
  status: LedgerStatus,
  flags: ChangeStateFlags,
  environment: Environment,
): Promise<void> {
  const id = requireId("ID", idText);
  if (status === "closed") {
    await confirm(`Close ledger ${id} for ever? Nothing can be posted to it again.`, flags.yes);
  }
  await withDatabase(flags, environment, async ({ output, pool, connections }) => {
    const change = await changeLedgerStatus(connections, id, status);
    if (change.outcome === "closed") {
      throw new CommandFailure(`ledger ${id} is closed, and stays so`, exitCodes.conflict);
    }
    if (change.outcome === "waitingForRates") {
      throw new CommandFailure(
        `wallets have accepted ${change.assetCodes.join(", ")}, which wait for a rate to be posted; ` +
          "set it with `ledgerctl asset set CODE --rate R` first",
        exitCodes.conflict,
      );
    }
    const ledger = change.outcome === "done" ? await findLedger(pool, id) : null;
    if (ledger === null) throw notFoundFailure(`there is no ledger ${id}`);
    output.result(document(ledger), () => `ledger ${id} is ${status}`);
  });
}

function document(ledger: LedgerRecord): LedgerDocument {
  return pickDocument({ ...ledger, id: ledger.ledgerId });
}

function pickDocument(ledger: LedgerDocument): LedgerDocument {
  const { id, name, status, functionalCurrency, createdAt } = ledger;
  return { id, name, status, functionalCurrency, createdAt };
}

const columns: readonly Column<LedgerDocument>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name },
  { title: "STATUS", value: ({ status }) => status },
  { title: "CURRENCY", value: ({ functionalCurrency }) => functionalCurrency },
  { title: "CREATED", value: ({ createdAt }) => createdAt },
];

function printLedgers(output: Output, ledgers: readonly LedgerDocument[]): void {
  output.list(ledgers, columns, ({ id }) => id);
}
