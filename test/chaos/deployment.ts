// What the faults happen to: one or two built servers on a PostgreSQL of their own, with or without a synchronous standby.
// Their networks, disks and clocks are instruments of the faults; without them it is a deployment as others are.
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { runCli } from "../support/cli.ts";
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { mayStepClocks, SteppedClock } from "../support/stepped-clock.ts";
import { until } from "../support/until.ts";
import { DatabaseNodes } from "./database-nodes.ts";
import { Endings } from "./endings.ts";
import { openNetwork, type Network } from "./network.ts";

export interface Shape {
  readonly serverCount: number;
  readonly hasStandby: boolean;
}

/** A server that can be ended and started again at the same address. */
export interface DeployedServer {
  process: ServerProcess;
  /** Where clients reach it. */
  readonly url: string;
  /** Between clients and it. */
  readonly network: Network | null;
  readonly clock: SteppedClock | null;
  readonly client: LedgerClient;
  start(): Promise<void>;
}

export interface Deployment {
  readonly shape: Shape;
  readonly home: string;
  readonly organizationId: string;
  readonly ledgerId: string;
  readonly key: { readonly apiKey: string; readonly apiSecret: string };
  readonly servers: readonly DeployedServer[];
  readonly database: DatabaseNodes;
  /** Resolves when all servers would take a write. */
  readonly becomeReady: () => Promise<void>;
  /** Runs a command of administration on the database. */
  readonly administer: (
    ...args: readonly string[]
  ) => Promise<{ code: number | null; told: string }>;
  /** Ends everything; removes the files too, unless they are kept. */
  readonly end: (keep: boolean) => Promise<void>;
}

interface Ground {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasInstruments: boolean;
  readonly endings: Endings;
}

type Key = Deployment["key"];

/** Deploys on a copy of `template`, a cluster that never ran. */
export async function deploy(
  shape: Shape,
  { template, hasInstruments }: { template: PostgresCluster; hasInstruments: boolean },
): Promise<Deployment> {
  const home = await mkdtemp(join(tmpdir(), "ledgerctl-chaos-"));
  await chmod(home, 0o755);
  const endings = new Endings();
  const end = async (keep: boolean) => {
    await endings.carryOut(keep);
    if (!keep) await rm(home, { recursive: true });
  };
  try {
    const { hasStandby } = shape;
    const options = { template, home, hasStandby, hasInstruments, endings };
    const database = await DatabaseNodes.start(options);
    const env = {
      HOME: home,
      XDG_CONFIG_HOME: home,
      LEDGERCTL_DATABASE_URL: `postgresql://ledgerctl:x@${database.hosts}/postgres?target_session_attrs=read-write`,
      LEDGERCTL_MASTER_KEY: randomBytes(32).toString("base64"),
    };
    const ground = { home, env, hasInstruments, endings };
    const { server, ...made } = await bootstrap(ground);
    const { key } = made;
    const servers = [server];
    while (servers.length < shape.serverCount) {
      const started = await startServer(ground, `server-${servers.length + 1}`, []);
      servers.push(await admitClients(ground, started, key));
    }
    return {
      ...{ ...made, shape, home, servers, database, end },
      becomeReady: async () => {
        for (const { process } of servers) await becomeReady(process.url);
      },
      administer: async (...args) => {
        const { code, stdout, stderr } = await runCli(args, { env });
        return { code, told: `${stdout}${stderr}` };
      },
    };
  } catch (error) {
    await end(false);
    throw error;
  }
}

async function bootstrap(
  ground: Ground,
): Promise<{ organizationId: string; ledgerId: string; key: Key; server: DeployedServer }> {
  const started = await startServer(ground, "server-1", ["--bootstrap"]);
  const { organizationId, ledgerId, apiKey, apiSecret } = started.process.made;
  if (!organizationId || !ledgerId || !apiKey || !apiSecret) throw new Error("nothing was made");
  const key = { apiKey, apiSecret };
  return { organizationId, ledgerId, key, server: await admitClients(ground, started, key) };
}

type StartedServer = Pick<DeployedServer, "process" | "clock" | "start">;

async function startServer(
  { home, env, hasInstruments, endings }: Ground,
  name: string,
  args: readonly string[],
): Promise<StartedServer> {
  const hasClock = hasInstruments && mayStepClocks;
  const clock = hasClock ? await SteppedClock.create(home, name) : null;
  const startAt = (port: string) =>
    startServerProcess({ args: [...args, "--port", port], env: { ...env, ...clock?.environment } });
  const server: StartedServer = {
    process: await startAt("0"),
    clock,
    start: async () => {
      server.process = await startAt(new URL(server.process.url).port);
    },
  };
  endings.add(async (keep) => {
    await server.process.end("SIGKILL");
    if (keep) await writeFile(join(home, `${name}.log`), server.process.stderr());
  });
  return server;
}

/** Adds to a server its network and its client. */
async function admitClients(
  { hasInstruments, endings }: Ground,
  server: StartedServer,
  key: Key,
): Promise<DeployedServer> {
  const { url } = server.process;
  const network = hasInstruments ? await openNetwork(Number(new URL(url).port)) : null;
  const reachedAt = network === null ? url : `http://127.0.0.1:${network.port}`;
  const client = new LedgerClient({ url: reachedAt, ...key, connections: 32, timeoutMs: 15_000 });
  endings.add(async () => {
    network?.close();
    await client.close();
  });
  return Object.assign(server, { url: reachedAt, network, client });
}

async function becomeReady(url: string): Promise<void> {
  await until(`${url} is ready`, async () => {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    return answer?.ok;
  });
}
