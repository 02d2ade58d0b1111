// PostgreSQL servers of a test's own, which may crash, stand by for each other, and be promoted.
import { appendFile, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { databaseAccount, type Account } from "../../src/store/embedded/account.ts";
import { findBinaries, locateBinaries, type Binaries } from "../../src/store/embedded/binaries.ts";
import { runProgram } from "../../src/store/embedded/run-program.ts";
import { freePort } from "./free-port.ts";

/** Of tests that crash servers, and never machines. */
const settings = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
shared_buffers = 16MB
max_connections = 60
wal_keep_size = 64MB
`;

export class PostgresCluster {
  /** The folder of the cluster and of its standbys; removed with the first of them. */
  readonly #home: string;
  readonly #account: Account | undefined;
  readonly #binaries: Binaries;
  readonly directory: string;
  readonly port: number;
  /** What its processes get besides their environment, such as a clock of their own. */
  environment: Readonly<Record<string, string>> = {};

  private constructor(
    home: string,
    account: Account | undefined,
    binaries: Binaries,
    directory: string,
    port: number,
  ) {
    this.#home = home;
    this.#account = account;
    this.#binaries = binaries;
    this.directory = directory;
    this.port = port;
  }

  /** Makes a cluster that is not running yet; in a folder of its own, or in a new one of `parent`. */
  static async create(parent = tmpdir()): Promise<PostgresCluster> {
    const account = await databaseAccount({ uid: 0, gid: 0 });
    const home = await makeHome(parent, account);
    const native = await locateBinaries(process.env["LEDGERCTL_TEST_POSTGRES_DIR"] || undefined);
    const binaries = await findBinaries(native, home, account);
    const directory = join(home, "primary");
    const cluster = new PostgresCluster(home, account, binaries, directory, await freePort());
    const made = ["--username=ledgerctl", "--auth=trust", "--encoding=UTF8", "--locale=C", "-N"];
    await cluster.#run(binaries.initdb, ["-D", cluster.directory, ...made]);
    await cluster.configure(`${settings}port = ${cluster.port}`);
    return cluster;
  }

  /** The same cluster once more, in a new folder of `parent`; this one is not running. */
  async copy(parent: string): Promise<PostgresCluster> {
    const copied = await this.#place(await makeHome(parent, this.#account), "primary");
    await copied.#copyFiles(this);
    return copied;
  }

  get url(): string {
    return `postgresql://ledgerctl@127.0.0.1:${this.port}/postgres`;
  }

  /** Adds settings, which hold from the next start. */
  async configure(lines: string): Promise<void> {
    await appendFile(join(this.directory, "postgresql.conf"), `\n${lines}\n`);
  }

  async start(): Promise<void> {
    const environment = Object.entries(this.environment).map(([name, value]) => `${name}=${value}`);
    const log = join(this.#home, `${this.port}.log`);
    await this.#run("env", [...environment, this.#program, ...this.#verb("start"), "-l", log]);
  }

  /** `immediate`: as in a crash. */
  async stop(mode: "fast" | "immediate" = "fast"): Promise<void> {
    await this.#control("stop", "-m", mode);
  }

  async promote(): Promise<void> {
    await this.#control("promote");
  }

  /**
   * A standby that follows this cluster, which is not running at this moment; neither is the standby. Its files are beside
   * this cluster's, or in a new folder of `parent`.
   */
  async copyAsStandby(parent?: string): Promise<PostgresCluster> {
    const home = parent === undefined ? this.#home : await makeHome(parent, this.#account);
    const standby = await this.#place(home, "standby");
    await standby.follow(this);
    return standby;
  }

  /** Gives up its own files for those of `primary`, and follows it from now on. Neither is running. */
  async follow(primary: PostgresCluster): Promise<void> {
    await this.#copyFiles(primary);
    const from = `host=127.0.0.1 port=${primary.port} user=ledgerctl`;
    await this.configure(`primary_conninfo = '${from}'\nsynchronous_standby_names = ''`);
    const signal = join(this.directory, "standby.signal");
    await writeFile(signal, "");
    if (this.#account) await chown(signal, this.#account.uid, this.#account.gid);
  }

  /** Ends it, whatever it does, and removes it with its standbys. */
  async remove(...standbys: readonly PostgresCluster[]): Promise<void> {
    for (const cluster of [...standbys, this]) {
      await cluster.stop("immediate").catch(() => undefined);
    }
    await rm(this.#home, { recursive: true });
  }

  async #place(home: string, name: string): Promise<PostgresCluster> {
    const directory = join(home, name);
    return new PostgresCluster(home, this.#account, this.#binaries, directory, await freePort());
  }

  async #copyFiles(of: PostgresCluster): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
    await this.#run("cp", ["-a", of.directory, this.directory]);
    await this.configure(`port = ${this.port}`);
  }

  #control(verb: string, ...more: string[]): Promise<void> {
    return this.#run(this.#program, [...this.#verb(verb), ...more]);
  }

  get #program(): string {
    return join(dirname(this.#binaries.initdb), "pg_ctl");
  }

  #verb(verb: string): string[] {
    return [verb, "-w", "-s", "-D", this.directory];
  }

  async #run(program: string, args: string[]): Promise<void> {
    const { code, stdout, stderr } = await runProgram(program, args, this.#account);
    if (code !== 0) throw new Error(`${program} ${args.join(" ")}: ${stdout} ${stderr}`);
  }
}

async function makeHome(parent: string, account: Account | undefined): Promise<string> {
  const home = await mkdtemp(join(parent, "ledgerctl-cluster-"));
  if (account) await chown(home, account.uid, account.gid);
  return home;
}
