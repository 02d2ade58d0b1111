// A soak: a steady load for many minutes, with a fault in each, and what it takes of the machine from minute to minute.
import { setTimeout as sleep } from "node:timers/promises";
import { processesOf } from "../support/frozen-cluster.ts";
import { PostgresCluster } from "../support/postgres-cluster.ts";
import { random } from "../support/wallet-traffic.ts";
import { deploy, type Deployment } from "./deployment.ts";
import { faults, letItLast, possibleFaults, type Fault } from "./faults.ts";
import { flatnessOf, type Flatness } from "./flatness.ts";
import { Load } from "./load.ts";
import { resourcesOf, type Resources } from "./resources.ts";
import { SteadyLoad, type Rates } from "./steady-load.ts";
import { readStored } from "./stored.ts";
import { judge } from "./verdict.ts";

/** As an operator would have it: nothing of what is durable is left out. */
const settings = `
fsync = on
shared_buffers = 256MB
max_connections = 100
`;

/** Each minute has a part without a fault, in which latency is measured, and a part with one. */
const steadyMs = 40_000;
const faultPartMs = 20_000;
const beforeFaultMs = 2_000;
const maximumMs = 20_000;
/** Of the maximum that is measured at the start, when no rate is given. */
const shareOfMaximum = 0.7;
const shareOfEntries = 0.25;

/** Few writes, but of every kind, and all of them are sent again until they are answered. */
const mixedPace = { writers: 4, restMsMax: 200 };
/** Who answers nothing for so long will not. */
const silenceMsMax = 45_000;

export interface Minute {
  readonly minute: number;
  readonly fault: string;
  /** That were acknowledged. */
  readonly writes: number;
  /** Of the part without a fault. */
  readonly walletsMs: { readonly p50: number; readonly p99: number };
  readonly entriesMs: { readonly p50: number; readonly p99: number };
  /** The longest time without an acknowledged write around the fault. */
  readonly gapMs: number;
  /** No fault happens to the first server itself. */
  readonly firstServer: Resources;
  readonly database: Resources;
}

export interface SoakEnd {
  readonly wrong: readonly string[];
  readonly flatness: readonly Flatness[];
  readonly kept: string | null;
}

export class Soak {
  /** Of the steady load. */
  readonly rates: Rates;
  readonly #deployment: Deployment;
  readonly #template: PostgresCluster;
  readonly #steady: SteadyLoad;
  readonly #mixed: Load;
  readonly #next: (below: number) => number;
  readonly #minutes: Minute[] = [];
  #faultsLeft: Fault[] = [];
  #fault: Promise<void> = Promise.resolve();
  #isOver = false;

  private constructor(
    parts: { deployment: Deployment; template: PostgresCluster; steady: SteadyLoad; rates: Rates },
    next: (below: number) => number,
  ) {
    const { servers, ledgerId } = parts.deployment;
    this.rates = parts.rates;
    this.#deployment = parts.deployment;
    this.#template = parts.template;
    this.#steady = parts.steady;
    this.#next = next;
    const clients = servers.map(({ client }) => client);
    this.#mixed = new Load(clients, ledgerId, random(next(1_000_000)));
  }

  /** Deploys two servers; `rate` is in writes a second, null: 70 % of what they take. */
  static async begin({ rate, seed }: { rate: number | null; seed: number }): Promise<Soak> {
    const template = await PostgresCluster.create();
    await template.configure(settings);
    const shape = { serverCount: 2, hasStandby: false };
    const deployment = await deploy(shape, { template, hasInstruments: false });
    try {
      const { servers, key } = deployment;
      const reached = servers.map(({ url }) => ({ url, key }));
      const steady = await SteadyLoad.prepare(reached, await createLedger(deployment));
      const rates = rate === null ? await measureRates(steady) : divide(rate);
      return new Soak({ deployment, template, steady, rates }, random(seed));
    } catch (error) {
      await deployment.end(false);
      await template.remove();
      throw error;
    }
  }

  async runMinute(): Promise<Minute> {
    const mixing = this.#mixed.run(mixedPace, () => this.#isOver);
    const acknowledgedBefore = this.#mixed.acknowledgedAt.length;
    const steady = await this.#steady.run(this.rates, steadyMs, { isLateDropped: false });
    const { servers, database } = this.#deployment;
    const [first] = servers;
    const minute = this.#minutes.length + 1;
    const firstServer = resourcesOf([first?.process.child.pid ?? 0]);
    const ofDatabase = resourcesOf(processesOf(database.primary.cluster).map(({ pid }) => pid));
    const fault = this.#drawFault();
    this.#fault = this.#makeFault(fault);
    // Awaited only when the load is over.
    this.#fault.catch(() => undefined);
    const around = await this.#steady.run(this.rates, faultPartMs, { isLateDropped: true });
    await this.#fault;
    this.#isOver = true;
    await mixing;
    this.#isOver = false;
    const made = {
      minute,
      fault: fault.name,
      writes: [steady.wallets, steady.entries, around.wallets, around.entries].reduce(
        (sum, { acknowledged }) => sum + acknowledged,
        this.#mixed.acknowledgedAt.length - acknowledgedBefore,
      ),
      walletsMs: steady.wallets.latencyMs,
      entriesMs: steady.entries.latencyMs,
      gapMs: around.gapMs,
      firstServer,
      database: ofDatabase,
    };
    this.#minutes.push(made);
    return made;
  }

  /** The verdict of the load, of what is stored, and of `ledgerctl audit`; and what grew. */
  async finish(): Promise<SoakEnd> {
    const { database, ledgerId, administer, becomeReady, home } = this.#deployment;
    await becomeReady();
    await this.#mixed.settle(mixedPace, (sinceAnswerMs) => sinceAnswerMs > silenceMsMax);
    const wrong = judge(this.#mixed.writes, await readStored(database.url, ledgerId));
    wrong.push(...(await this.#steady.verify()));
    const { code, told } = await administer("audit", "--json");
    if (code !== 0) wrong.push(`audit: ${told}`);
    return { wrong, flatness: this.#compareThirds(), kept: wrong.length > 0 ? home : null };
  }

  async end(keep: boolean): Promise<void> {
    await this.#fault.catch(() => undefined);
    await this.#steady.close();
    await this.#deployment.end(keep);
    await this.#template.remove();
  }

  /** Waits until it is under way, then makes it happen to the last server or to the database. */
  async #makeFault(fault: Fault): Promise<void> {
    const server = this.#deployment.servers.at(-1);
    if (server === undefined) throw new Error("a deployment has a server");
    await sleep(beforeFaultMs);
    const target = { deployment: this.#deployment, server, next: this.#next };
    const heal = await fault.inject(target);
    await letItLast(this.#next);
    await heal();
  }

  #drawFault(): Fault {
    if (this.#faultsLeft.length === 0) {
      const features = { hasStandby: false, hasInstruments: false };
      this.#faultsLeft = [...possibleFaults(faults, features)];
    }
    const [drawn] = this.#faultsLeft.splice(this.#next(this.#faultsLeft.length), 1);
    if (drawn === undefined) throw new Error("there is a fault that can be made anywhere");
    return drawn;
  }

  #compareThirds(): readonly Flatness[] {
    if (this.#minutes.length < 3) return [];
    const of = (what: string, unitsMore: number, figure: (minute: Minute) => number) =>
      flatnessOf(what, this.#minutes.map(figure), unitsMore);
    return [
      of("memory of the first server, MiB", 20, ({ firstServer }) => firstServer.memoryMib),
      of("descriptors of the first server", 20, ({ firstServer }) => firstServer.descriptors),
      of("memory of the database, MiB", 50, ({ database }) => database.memoryMib),
      of("descriptors of the database", 100, ({ database }) => database.descriptors),
      of("p50 of credits and debits, ms", 1, ({ walletsMs }) => walletsMs.p50),
      of("p99 of credits and debits, ms", 5, ({ walletsMs }) => walletsMs.p99),
      of("p50 of entries, ms", 1, ({ entriesMs }) => entriesMs.p50),
      of("p99 of entries, ms", 5, ({ entriesMs }) => entriesMs.p99),
    ];
  }
}

/** For the steady load: the mixed one is judged by all that is in its ledger. */
async function createLedger({ administer, organizationId }: Deployment): Promise<string> {
  const run = async (...args: readonly string[]) => {
    const { code, told } = await administer(...args);
    if (code !== 0) throw new Error(`ledgerctl ${args.join(" ")}: ${told}`);
    return told.trim();
  };
  const named = ["--org", organizationId, "--currency", "USD", "--quiet"];
  const ledgerId = await run("ledger", "create", "Steady", ...named);
  await run("account", "add", "1000", "Cash", "--ledger", ledgerId);
  await run("account", "add", "4000", "Sales", "--ledger", ledgerId);
  return ledgerId;
}

async function measureRates(steady: SteadyLoad): Promise<Rates> {
  const atFullSpeed = { wallets: null, entries: null };
  const { wallets, entries } = await steady.run(atFullSpeed, maximumMs, { isLateDropped: false });
  const share = ({ perSecond }: { perSecond: number }) => Math.round(perSecond * shareOfMaximum);
  return { wallets: share(wallets), entries: share(entries) };
}

function divide(rate: number): Rates {
  const entries = Math.max(1, Math.round(rate * shareOfEntries));
  return { wallets: Math.max(1, rate - entries), entries };
}
