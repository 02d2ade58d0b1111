// The database of a deployment: a primary, perhaps with a synchronous standby that can take over. With instruments each has
// a network of its own, and where the machine lets it a small disk and a clock.
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { processesOf, signalProcess } from "../support/frozen-cluster.ts";
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import { mayMountDisks, SmallDisk } from "../support/small-disk.ts";
import { mayStepClocks, SteppedClock } from "../support/stepped-clock.ts";
import { until } from "../support/until.ts";
import type { Endings } from "./endings.ts";
import { openNetwork, type Network } from "./network.ts";

/** Room for a deployment's rounds, and soon filled. */
const diskSize = "240m";

/**
 * A standby insists on as many connections as the primary had when it was made. Shared memory is in the folder, so that none
 * is left where PostgreSQL was killed for good. A standby comes back to a primary that has recovered as docs/operations.md advises.
 */
const settings = `
max_connections = 100
dynamic_shared_memory_type = mmap
max_wal_size = 48MB
wal_keep_size = 32MB
wal_retrieve_retry_interval = 500ms
`;

export interface DatabaseNode {
  readonly cluster: PostgresCluster;
  /** Between the servers and it. */
  readonly network: Network | null;
  readonly disk: SmallDisk | null;
  readonly clock: SteppedClock | null;
}

export class DatabaseNodes {
  primary: DatabaseNode;
  standby: DatabaseNode | null;
  /** The hosts of the database URL, in an order that stays. */
  readonly hosts: string;
  #isStandbyGone = false;

  private constructor(primary: DatabaseNode, standby: DatabaseNode | null) {
    this.primary = primary;
    this.standby = standby;
    this.hosts = this.all
      .map(({ cluster, network }) => `127.0.0.1:${(network ?? cluster).port}`)
      .join(",");
  }

  /** Starts copies of `template` in folders of `home`. */
  static async start(options: {
    template: PostgresCluster;
    home: string;
    hasStandby: boolean;
    hasInstruments: boolean;
    endings: Endings;
  }): Promise<DatabaseNodes> {
    const { template, home, hasStandby, hasInstruments, endings } = options;
    const place = (name: string, make: (parent: string) => Promise<PostgresCluster>) =>
      hasInstruments ? placeWithInstruments(home, name, make, endings) : placeBare(home, make);
    const primary = await place("one", (parent) => template.copy(parent));
    if (hasInstruments) await primary.cluster.configure(settings);
    const standby = hasStandby
      ? await place("two", (parent) => primary.cluster.copyAsStandby(parent))
      : null;
    if (hasStandby) await primary.cluster.configure("synchronous_standby_names = '*'");
    const nodes = new DatabaseNodes(primary, standby);
    for (const { cluster } of nodes.all) {
      endings.add(() => cluster.stop("immediate"));
      await cluster.start();
    }
    return nodes;
  }

  get all(): readonly DatabaseNode[] {
    return this.standby === null ? [this.primary] : [this.primary, this.standby];
  }

  /** Where rows are read, whatever became of the networks. */
  get url(): string {
    return this.primary.cluster.url;
  }

  /** The standby takes the place of a primary that is dead. */
  async failOver(): Promise<void> {
    if (this.standby === null) throw new Error("there is no standby");
    await this.standby.cluster.promote();
    [this.primary, this.standby] = [this.standby, this.primary];
    this.#isStandbyGone = true;
  }

  /** After a failover: the primary that was killed becomes a standby, made from the new primary's files, which stops for that. */
  async renewStandby(): Promise<void> {
    if (!this.#isStandbyGone || this.standby === null) return;
    const [primary, standby] = [this.primary.cluster, this.standby.cluster];
    await primary.stop();
    await primary.configure("synchronous_standby_names = '*'");
    await standby.follow(primary);
    await primary.start();
    await standby.start();
    this.#isStandbyGone = false;
  }
}

async function placeBare(
  home: string,
  make: (parent: string) => Promise<PostgresCluster>,
): Promise<DatabaseNode> {
  return { cluster: await make(home), network: null, disk: null, clock: null };
}

async function placeWithInstruments(
  home: string,
  name: string,
  make: (parent: string) => Promise<PostgresCluster>,
  endings: Endings,
): Promise<DatabaseNode> {
  const disk = mayMountDisks ? await SmallDisk.mount(join(home, name), diskSize) : null;
  if (disk !== null) {
    endings.add(async (keep) => {
      if (keep) await cp(disk.directory, join(home, `${name}-kept`), { recursive: true });
      await disk.unmount();
    });
  }
  const cluster = await make(disk?.directory ?? home);
  const network = await openNetwork(cluster.port);
  endings.add(async () => {
    network.close();
  });
  const clock = mayStepClocks ? await SteppedClock.create(home, name) : null;
  if (clock !== null) cluster.environment = clock.environment;
  return { cluster, network, disk, clock };
}

/** Kills the postmaster of a cluster and all of its processes, and waits until they are gone. */
export async function killCluster(cluster: PostgresCluster): Promise<void> {
  const [postmaster] = processesOf(cluster);
  if (postmaster === undefined) throw new Error("the database is not running");
  // So that it begins no process that is not listed.
  signalProcess(postmaster.pid, "SIGSTOP");
  const pids = processesOf(cluster).map(({ pid }) => pid);
  for (const pid of pids) signalProcess(pid, "SIGKILL");
  await until("the processes of the database end", () => !pids.some(isRunning));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
