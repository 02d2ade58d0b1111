// What a history happens in: simulated time, the simulated database with its ledgers, and servers with the real engine.
import { SeededRandom } from "../../../src/seed/seeded-random.ts";
import type { LedgerIdentity } from "../../../src/core/ledger.ts";
import { Cluster } from "../database/cluster.ts";
import { learnStatements } from "../database/statements/all.ts";
import { SimulatedTransaction } from "../database/transactions.ts";
import { Scheduler } from "../world/scheduler.ts";
import { useTime } from "../world/simulated-time.ts";
import { FaultInjector } from "./fault-injector.ts";
import { accountCodes } from "./make-plan.ts";
import { Violations } from "../model/violation.ts";
import type { Plan } from "./plan.ts";
import { Server } from "./server.ts";
import { StreamReaders } from "./stream-readers.ts";

const statements = learnStatements();
const functionalCurrency = "EUR";

export class World {
  readonly plan: Plan;
  readonly scheduler = new Scheduler();
  readonly random: SeededRandom;
  readonly cluster: Cluster;
  readonly ledgers: readonly LedgerIdentity[];
  readonly servers: Server[] = [];
  readonly faults: FaultInjector;
  readonly readers: StreamReaders;
  /** What was wrong in the moment in which it was told. */
  readonly violations = new Violations();

  constructor(plan: Plan) {
    this.plan = plan;
    this.random = new SeededRandom(`history ${plan.seed}`);
    useTime(this.scheduler, this.random);
    this.faults = new FaultInjector(this, plan.faults);
    this.cluster = new Cluster({
      scheduler: this.scheduler,
      random: this.random,
      statements,
      hasStandby: plan.setup.hasStandby,
      onMoment: (moment, session, parameters) => {
        this.faults.onMoment(moment, session, parameters);
      },
    });
    this.ledgers = Array.from({ length: plan.setup.ledgers }, () => this.#createLedger());
    this.readers = new StreamReaders(this);
    for (let index = 0; index < plan.setup.servers; index += 1) this.#startServer(index);
  }

  /** How long a message travels this time. */
  readonly delayMs = (): number => {
    const { delayMsMax } = this.plan.setup;
    return (delayMsMax * (1 + this.random.below(99))) / 100;
  };

  /** A server is killed, and another takes its place a while later. */
  killServer(index: number, isSilent: boolean, downMs: number): void {
    const server = this.servers[index];
    if (server === undefined || server.isDead) return;
    server.kill(isSilent);
    this.scheduler.after(downMs, () => {
      this.#startServer(index);
    });
  }

  #startServer(index: number): void {
    const server = new Server(this, index);
    this.servers[index] = server;
    if (this.plan.setup.pollIntervalMs !== null) this.readers.open(server);
  }

  #createLedger(): LedgerIdentity {
    const { tables } = this.cluster;
    const ledger = {
      ledgerId: this.random.id(0),
      organizationId: this.random.id(0),
      functionalCurrency,
    };
    const { ledgerId } = ledger;
    const { closesInOrder } = this.plan.setup;
    const createdBy = new SimulatedTransaction();
    createdBy.state = "committed";
    createdBy.visibleFrom = 0;
    const made = { createdBy, endedBy: null };
    tables.ledgers.add({ row: { ...ledger, closesInOrder }, ...made });
    tables.ledgerStates.add({ row: { ledgerId, status: "active" }, ...made });
    tables.journalHeads.add({ row: { ledgerId, lastSequence: 0, lastPersistedAt: null }, ...made });
    for (const glAccountCode of accountCodes) {
      const row = { ledgerId, glAccountCode, name: glAccountCode, type: null, active: true };
      tables.accounts.add({ row, ...made });
    }
    return ledger;
  }
}
