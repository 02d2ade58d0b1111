// The faults: what each does to a deployment, and what an operator or time does about it.
import { setTimeout as sleep } from "node:timers/promises";
import { freezeCluster, processesOf, signalProcess } from "../support/frozen-cluster.ts";
import { mayMountDisks } from "../support/small-disk.ts";
import { mayStepClocks } from "../support/stepped-clock.ts";
import { until } from "../support/until.ts";
import { killCluster } from "./database-nodes.ts";
import type { DeployedServer, Deployment } from "./deployment.ts";
import type { Network } from "./network.ts";

export interface Fault {
  readonly name: string;
  /** What it can't be made without. */
  readonly needs?: "a standby" | "networks" | "small disks" | "clocks";
  /** Does it; resolves with what ends it, which the runner calls after a moment. */
  inject(target: Target): Promise<() => Promise<void>>;
}

export interface Target {
  readonly deployment: Deployment;
  /** The server that it happens to, where it happens to one. */
  readonly server: DeployedServer;
  /** A whole number from 0 up to, not including, `below`. */
  readonly next: (below: number) => number;
}

const nothing = () => Promise.resolve();
const networksOf = ({ database }: Deployment) =>
  database.all.flatMap(({ network }) => (network === null ? [] : [network]));

const faultsOfServers: readonly Fault[] = [
  {
    name: "server killed",
    inject: async ({ server }) => {
      await server.process.end("SIGKILL");
      return () => server.start();
    },
  },
  {
    name: "server stopped and continued",
    inject: async ({ server }) => {
      server.process.child.kill("SIGSTOP");
      return async () => {
        server.process.child.kill("SIGCONT");
      };
    },
  },
  {
    name: "server restarted",
    inject: async ({ server }) => {
      const code = await server.process.end("SIGTERM");
      if (code !== 0) throw new Error(`after SIGTERM the server ended with ${String(code)}`);
      return () => server.start();
    },
  },
  {
    name: "server's clock stepped",
    needs: "clocks",
    inject: async ({ server, next }) => {
      // Requests are signed with the time, which may be 300 s away.
      await server.clock?.set(drawStep(200, next));
      return nothing;
    },
  },
];

const faultsOfTheDatabase: readonly Fault[] = [
  {
    name: "database killed",
    inject: async ({ deployment }) => {
      const { cluster } = deployment.database.primary;
      await killCluster(cluster);
      return () => cluster.start();
    },
  },
  {
    name: "backend killed",
    inject: async ({ deployment, next }) => {
      // Those that a server is connected to; PostgreSQL then ends all, recovers and goes on.
      const processes = processesOf(deployment.database.primary.cluster);
      const backends = processes.filter(({ title }) => title.includes(" ledgerctl "));
      const backend = backends[next(backends.length)];
      if (backend === undefined) throw new Error("no server is connected");
      signalProcess(backend.pid, "SIGKILL");
      return nothing;
    },
  },
  {
    name: "database stopped and continued",
    inject: async ({ deployment }) => {
      const goOn = freezeCluster(deployment.database.primary.cluster);
      return async () => {
        goOn();
      };
    },
  },
  {
    name: "disk full",
    needs: "small disks",
    inject: async ({ deployment, server }) => {
      const { disk, cluster } = deployment.database.primary;
      await disk?.fill();
      await until("the server finds the disk full", async () => {
        const answer = await fetch(`${server.process.url}/readyz`);
        return !answer.ok;
      });
      return async () => {
        await disk?.free();
        // Without space for its log it ends, and does not come back by itself.
        if (processesOf(cluster).length === 0) await cluster.start();
      };
    },
  },
  {
    name: "database's clock stepped",
    needs: "clocks",
    inject: async ({ deployment, next }) => {
      await deployment.database.primary.clock?.set(drawStep(3_600, next));
      return nothing;
    },
  },
  {
    name: "failover",
    needs: "a standby",
    inject: async ({ deployment: { database } }) => {
      await killCluster(database.primary.cluster);
      return () => database.failOver();
    },
  },
];

const faultsOfNetworks: readonly Fault[] = [
  cutOff("clients cut off", ({ server }) => (server.network === null ? [] : [server.network])),
  halfOpen("clients half-open", ({ server }) => (server.network === null ? [] : [server.network])),
  cutOff("database cut off", ({ deployment }) => networksOf(deployment)),
  halfOpen("database half-open", ({ deployment }) => networksOf(deployment)),
];

export const faults = [...faultsOfServers, ...faultsOfTheDatabase, ...faultsOfNetworks];

function cutOff(name: string, choose: (target: Target) => readonly Network[]): Fault {
  return {
    name,
    needs: "networks",
    inject: async (target) => {
      for (const network of choose(target)) network.cut();
      return nothing;
    },
  };
}

function halfOpen(name: string, choose: (target: Target) => readonly Network[]): Fault {
  return {
    name,
    needs: "networks",
    inject: async (target) => {
      const networks = choose(target);
      for (const network of networks) network.forget();
      return async () => {
        for (const network of networks) network.remember();
      };
    },
  };
}

/** Seconds, up to so many ahead or behind. */
function drawStep(secondsMax: number, next: Target["next"]): number {
  return (1 + next(secondsMax)) * (next(2) === 0 ? 1 : -1);
}

/** How long a fault lasts before it is ended. */
export async function letItLast(next: (below: number) => number): Promise<void> {
  await sleep(100 + next(500));
}

/** Of these faults those that can be made in such a deployment on this machine. */
export function possibleFaults(
  among: readonly Fault[],
  { hasStandby, hasInstruments }: { hasStandby: boolean; hasInstruments: boolean },
): readonly Fault[] {
  const has = {
    "a standby": hasStandby,
    networks: hasInstruments,
    "small disks": hasInstruments && mayMountDisks,
    clocks: hasInstruments && mayStepClocks,
  };
  return among.filter(({ needs }) => needs === undefined || has[needs]);
}

/** What this machine can't be made to suffer, and why. */
export function leftOut(): readonly string[] {
  return [
    ...(mayMountDisks ? [] : ["left out: a full disk, which takes root on Linux"]),
    ...(mayStepClocks ? [] : ["left out: stepped clocks, which take Linux and a C compiler (cc)"]),
  ];
}
