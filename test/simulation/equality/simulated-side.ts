// The simulated database as one of the two that are compared.
import { PipelinedConnection } from "../../../src/store/database/pipeline.ts";
import { SeededRandom } from "../../../src/seed/seeded-random.ts";
import { Cluster } from "../database/cluster.ts";
import { SimulatedClient } from "../database/simulated-client.ts";
import { learnStatements } from "../database/statements/all.ts";
import { SimulatedTransaction } from "../database/transactions.ts";
import { Scheduler } from "../world/scheduler.ts";
import { codes, functionalCurrency, organizationId } from "./domain.ts";
import { Side } from "./side.ts";

/** Longer than any statement takes, shorter than any timeout. */
const stepMs = 20;
const statements = learnStatements();

export function openSimulatedSide(
  seed: string,
  ledgerIds: readonly string[],
  sessions: number,
): Side {
  const scheduler = new Scheduler();
  const cluster = new Cluster({
    scheduler,
    random: new SeededRandom(seed),
    statements,
    hasStandby: false,
    onMoment: () => undefined,
  });
  addLedgers(cluster, ledgerIds);
  const clients = Array.from(
    { length: sessions },
    () => new SimulatedClient(cluster, 0, () => 0.1),
  );
  const connections = clients.map((client) => new PipelinedConnection(client.asSession, null));
  return new Side(connections, {
    settleOrWait: async (session, isSettled) => {
      await scheduler.runUntil(isSettled, scheduler.nowMs + stepMs);
      if (isSettled()) return [];
      const [, blockers] = clients[session]?.link.session.wait ?? [];
      const transactions = clients.map(({ link }) => link.session.transaction);
      return [...new Set(blockers)].map((blocker) => transactions.indexOf(blocker)).sort();
    },
  });
}

function addLedgers({ tables }: Cluster, ledgerIds: readonly string[]): void {
  const createdBy = new SimulatedTransaction();
  createdBy.state = "committed";
  createdBy.visibleFrom = 0;
  const made = { createdBy, endedBy: null };
  for (const ledgerId of ledgerIds) {
    const closesInOrder = ledgerId === ledgerIds[1];
    const row = { ledgerId, organizationId, functionalCurrency, closesInOrder };
    tables.ledgers.add({ row, ...made });
    tables.ledgerStates.add({ row: { ledgerId, status: "active" }, ...made });
    tables.journalHeads.add({ row: { ledgerId, lastSequence: 0, lastPersistedAt: null }, ...made });
    const account = { ledgerId, name: "first", type: null, active: true };
    tables.accounts.add({ row: { ...account, glAccountCode: codes[0] ?? "" }, ...made });
  }
}
