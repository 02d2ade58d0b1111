// A deployment on trial: the load on it, who reads its streams, and the rounds that are made with it.
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import { until } from "../support/until.ts";
import { random } from "../support/wallet-traffic.ts";
import { deploy, type DeployedServer, type Deployment, type Shape } from "./deployment.ts";
import { letItLast, type Fault } from "./faults.ts";
import { Load, type Pace } from "./load.ts";
import { readStored } from "./stored.ts";
import { StreamReader } from "./stream-reader.ts";
import { judge, judgeStream } from "./verdict.ts";

export interface Round {
  readonly fault: string;
  readonly shape: Shape;
  /** Writes that were sent in the round. */
  readonly writes: number;
  /** Of them, those whose answer was lost or said that it is not known. */
  readonly unknown: number;
  /** The longest time without an acknowledged write. */
  readonly gapMs: number;
  /** From the moment in which the fault was ended to the next acknowledged write. */
  readonly recoveryMs: number;
  /** What was lost, doubled or otherwise wrong; empty when nothing was. */
  readonly wrong: readonly string[];
  /** The folder that was kept, when anything was wrong. */
  readonly kept: string | null;
}

interface Conditions {
  /** A cluster that never ran. */
  readonly template: PostgresCluster;
  readonly pace: Pace;
  readonly next: (below: number) => number;
  readonly signal?: AbortSignal;
}

/** Who answers nothing for so long will not. */
const silenceMsMax = 45_000;
/** Acknowledged writes before the fault, and after its end. */
const writesAround = 15;

export class Trial {
  /** Whether anything was wrong in a round: the files are kept then. */
  isWrong = false;
  readonly #deployment: Deployment;
  readonly #conditions: Conditions;
  readonly #load: Load;
  readonly #readers: readonly StreamReader[];

  private constructor(deployment: Deployment, conditions: Conditions) {
    const { servers, ledgerId } = deployment;
    const { next } = conditions;
    const clients = servers.map(({ client }) => client);
    this.#deployment = deployment;
    this.#conditions = conditions;
    // Its own numbers: how many it draws depends on time, and the seed has to give the same faults again.
    this.#load = new Load(clients, ledgerId, random(next(1_000_000)));
    this.#readers = clients.map((client) => new StreamReader(client, ledgerId, "hot"));
  }

  static async start(shape: Shape, conditions: Conditions): Promise<Trial> {
    const { template } = conditions;
    return new Trial(await deploy(shape, { template, hasInstruments: true }), conditions);
  }

  /** Makes a fault under load and judges what is stored; after the last of its rounds by an audit too. */
  async makeRound(fault: Fault, { isLast }: { isLast: boolean }): Promise<Round> {
    const { shape, home } = this.#deployment;
    const load = this.#load;
    const before = load.writes.length;
    const wrong: string[] = [];
    const startedAt = performance.now();
    let endedAt = startedAt;
    let isOver = false;
    const running = load.run(this.#conditions.pace, () => isOver);
    try {
      await this.#acknowledge();
      endedAt = await this.#makeFault(fault);
      await this.#acknowledge();
    } catch (error) {
      wrong.push(String(error));
    }
    isOver = true;
    await running;
    const made = load.writes.slice(before);
    const unknown = made.filter(({ isAmbiguous }) => isAmbiguous).length;
    const times = load.acknowledgedAt.filter((at) => at >= startedAt);
    if (!this.#isAborted) {
      wrong.push(...(await this.#judge(isLast).catch((error: unknown) => [String(error)])));
    }
    // Whoever interrupts it may have interrupted its servers too.
    this.isWrong = wrong.length > 0 && !this.#isAborted;
    return {
      fault: fault.name,
      shape,
      writes: made.length,
      unknown,
      gapMs: longestGap(startedAt, times),
      recoveryMs: (times.find((at) => at >= endedAt) ?? Infinity) - endedAt,
      wrong,
      kept: this.isWrong ? home : null,
    };
  }

  async end(): Promise<void> {
    for (const reader of this.#readers) reader.close();
    await this.#deployment.end(this.isWrong);
  }

  get #isAborted(): boolean {
    return this.#conditions.signal?.aborted === true;
  }

  /** Resolves with the moment in which its end began. */
  async #makeFault(fault: Fault): Promise<number> {
    const { next } = this.#conditions;
    const deployment = this.#deployment;
    const server = this.#drawServer();
    const heal = await fault.inject({ deployment, server, next });
    await letItLast(next);
    const endedAt = performance.now();
    await heal();
    return endedAt;
  }

  #drawServer(): DeployedServer {
    const { servers } = this.#deployment;
    const server = servers[this.#conditions.next(servers.length)];
    if (server === undefined) throw new Error("a deployment has a server");
    return server;
  }

  async #acknowledge(): Promise<void> {
    const { acknowledgedAt } = this.#load;
    const enough = acknowledgedAt.length + writesAround;
    await until(
      "writes are acknowledged",
      () => acknowledgedAt.length >= enough || this.#isAborted,
    );
  }

  /** Asks for what is unknown, and says what is wrong. Leaves the deployment as the next round needs it. */
  async #judge(isLast: boolean): Promise<string[]> {
    const { database, ledgerId, administer, becomeReady } = this.#deployment;
    const isOver = (sinceAnswerMs: number) => sinceAnswerMs > silenceMsMax || this.#isAborted;
    await this.#load.settle(this.#conditions.pace, isOver);
    const stored = await readStored(database.url, ledgerId);
    const wrong = judge(this.#load.writes, stored);
    for (const reader of this.#readers) {
      await reader.reach(stored.walletRows.get(reader.callerKey)?.at(-1)?.seq ?? 0);
      wrong.push(...judgeStream(reader, stored));
    }
    if (isLast) {
      const { code, told } = await administer("audit", "--json");
      if (code !== 0) wrong.push(`audit: ${told}`);
    } else if (wrong.length === 0) {
      await database.renewStandby();
      await becomeReady();
    }
    return wrong;
  }
}

function longestGap(from: number, times: readonly number[]): number {
  return times.reduce((most, at, index) => Math.max(most, at - (times[index - 1] ?? from)), 0);
}
