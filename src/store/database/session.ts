// A session: one connection of the driver, to the host that serves, with the settings that its user asked for.
import { userInfo } from "node:os";
import { Client, escapeLiteral, type ClientConfig } from "pg";
import { connectionTarget, type ConnectionTarget, type DatabaseHost } from "./connection-url.ts";
import { HostFailure } from "./errors.ts";
import type { DatabaseHosts, HostState } from "./hosts.ts";
import { loginFault } from "./login-fault.ts";
import type { QueryText } from "./statement.ts";

/** How values are written, and that what is acknowledged is on disk: whatever the database's own settings say. */
const settingsOfAll = {
  timezone: "UTC",
  datestyle: "ISO",
  // Shortest exact form of floats: a rate that is read back must be the one that was hashed.
  extra_float_digits: "1",
  bytea_output: "hex",
  synchronous_commit: "on",
  default_transaction_read_only: "off",
  // Compiling a plan takes longer than all that reads with sums by day take.
  jit: "off",
  // A COMMIT whose wait for a standby is cancelled is answered with a warning, and nothing else tells.
  client_min_messages: "warning",
  // Writes to wallets come with the hash of the log: without this the database refuses them (migration 0008).
  "ledgerctl.chains_logs": "on",
  // Who runs the program, for the record of administration.
  "ledgerctl.operator": operatorName(),
  // With Citus, the nodes of a transaction have the settings of it, too.
  "citus.propagate_set_commands": "local",
  // A node that is away holds up nobody else for long.
  "citus.node_connection_timeout": "3000",
};

/** The user of the operating system; its id where it has no name, as in many containers. */
function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

/** Citus passes on to other nodes what is set in a transaction, and nothing else that a session has set. */
function settingsToPassOn({ applicationName, settings }: SessionOptions): readonly QueryText[] {
  const { lock_timeout: lockTimeout } = settings;
  const passedOn = {
    "ledgerctl.operator": operatorName(),
    "ledgerctl.program": applicationName,
    ...(lockTimeout === undefined ? {} : { lock_timeout: lockTimeout }),
  };
  return Object.entries(passedOn).map(([name, value]) => ({
    name: `pass_on_${name}`,
    text: `SET LOCAL ${name} = ${escapeLiteral(value)}`,
  }));
}

export interface SessionOptions {
  readonly hosts: DatabaseHosts;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Settings of PostgreSQL besides those that all sessions have. */
  readonly settings: Readonly<Record<string, string>>;
  readonly driver: ClientConfig;
  /** Has PostgreSQL end statements whose caller is gone. */
  readonly detectsDisconnects: boolean;
  /**
   * For sessions on a node of a Citus cluster that is not its coordinator: since when its PostgreSQL runs, as
   * `startedAtText` says it there. The coordinator's name of the node may lead to another server from here.
   */
  readonly nodeStartedAt?: string | null;
}

/** Since when a server runs, as SQL: no two of a cluster say the same. */
export const startedAtText = "extract(epoch FROM pg_postmaster_start_time())::text";

/** What pg calls messages of PostgreSQL that ask for a password. */
const passwordRequests = [
  "authenticationCleartextPassword",
  "authenticationMD5Password",
  "authenticationSASL",
];

const connectTimeoutMs = 5_000;
/** With other hosts to try, who waits for a connection still gets one in time. */
const connectTimeoutOfSeveralMs = 3_000;
const disconnectDetectedWithinMs = 1_000;
const endMsMax = 2_000;

/** What a host says of its timeline, as SQL. It is known on a primary only. */
export const timelineText = "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)";

/**
 * Sets all settings and tells what the session is connected to. They are no startup options: a pooler refuses those
 * or drops them, and whether a host is the primary has to be asked anyway.
 */
const prepareText = `
  SELECT pg_backend_pid() AS pid,
         pg_is_in_recovery() AS "isStandby",
         CASE WHEN $3 AND NOT pg_is_in_recovery()
              THEN ${timelineText} END AS timeline,
         to_regclass('ledger_acts') IS NOT NULL AS "isDistributed",
         ${startedAtText} AS "startedAt",
         (SELECT count(*) FROM unnest($1::text[], $2::text[]) AS asked (name, value)
           CROSS JOIN LATERAL set_config(asked.name, CASE
             -- Citus plans for all values what names one row of one ledger, and the rest for the values that it gets.
             WHEN asked.value = 'force_generic_plan' AND to_regclass('ledger_acts') IS NOT NULL AND NOT $4
             THEN 'auto' ELSE asked.value END, false)) AS settings`;

/** What makes sessions with these options, each to the host that serves then; they are not open yet. */
export function sessionMaker(options: SessionOptions): () => Session {
  const { hosts, applicationName } = options;
  const targets = new Map(
    hosts.all.map((host) => [host, connectionTarget(host.url, applicationName)]),
  );
  return () => {
    const host = hosts.current;
    return new Session(options, host, targets.get(host) as ConnectionTarget);
  };
}

/** Opens a session on the host that serves; rejects with ConnectionBroken. */
export function openSession(
  options: SessionOptions,
  makeSession = sessionMaker(options),
): Promise<Session> {
  return options.hosts.inTurn(async () => {
    const session = makeSession();
    await session.open();
    return session;
  });
}

export class Session extends Client {
  readonly #options: SessionOptions;
  readonly #host: DatabaseHost;
  /** What transactions that change rows begin with where several nodes work on them; none on one machine. */
  transactionSettings: readonly QueryText[] = [];
  /** Whether it is to the coordinator of a database that Citus spreads. */
  isToCoordinator = false;
  #isPasswordAsked = false;

  constructor(options: SessionOptions, host: DatabaseHost, target: ConnectionTarget) {
    super({ ...options.driver, connectionString: target.url, ssl: target.ssl });
    this.#options = options;
    this.#host = host;
    // What breaks while nobody uses it, or in the very packet that made it ready, has nobody else who listens, and
    // an unhandled error event ends the process. What is sent through it fails, which is enough.
    this.on("error", () => undefined);
    for (const request of passwordRequests) {
      this.connection.once(request, () => (this.#isPasswordAsked = true));
    }
    this.on("end", () => {
      options.hosts.forget(this);
    });
  }

  /** Ends the session. A host that hangs does not answer that either, and must keep no process from ending. */
  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    // It is the socket that would keep it, and not this.
    const timer = setTimeout(() => {
      this.cut();
    }, endMsMax).unref();
    this.once("end", () => {
      clearTimeout(timer);
    });
    if (callback === undefined) return super.end();
    super.end(callback);
  }

  /** Breaks the connection: what runs on it fails for this reason, and the database gives it up. */
  cut(reason?: Error): void {
    this.connection.stream.destroy(reason);
  }

  /** Connects, and sets what was asked for. Rejects with HostFailure. */
  async open(): Promise<void> {
    const { hosts } = this.#options;
    const timeoutMs = hosts.isSeveral ? connectTimeoutOfSeveralMs : connectTimeoutMs;
    // A host that is stopped still accepts connections, and says nothing: the time is for all of it.
    const timer = setTimeout(() => {
      this.cut(new Error(`it did not answer within ${timeoutMs / 1_000} s`));
    }, timeoutMs);
    try {
      await this.connect();
      hosts.adopt(this.#host, this, await this.#prepare());
      if (this.#options.detectsDisconnects) await this.#detectDisconnects();
    } catch (error) {
      this.cut();
      hosts.forget(this);
      hosts.passOver(this.#host, error);
      const fault = loginFault(error, this.#isPasswordAsked && !this.password);
      throw new HostFailure(this.#host.name, hosts.isSeveral, fault);
    } finally {
      clearTimeout(timer);
    }
  }

  async #prepare(): Promise<HostState> {
    const { hosts, settings, nodeStartedAt = null } = this.#options;
    const asked = Object.entries({ ...settingsOfAll, ...settings });
    const names = asked.map(([name]) => name);
    const values = asked.map(([, value]) => value);
    const asksTimeline = hosts.isSeveral && hosts.needsPrimary;
    const { rows } = await this.query<
      HostState & { pid: number; isDistributed: boolean; startedAt: string }
    >(prepareText, [names, values, asksTimeline, nodeStartedAt !== null]);
    const [state] = rows;
    if (state === undefined) throw new Error("a session says what it is connected to");
    // A pooler makes up the id by which its clients cancel.
    if (state.pid !== Reflect.get(this, "processID")) hosts.isPooled = true;
    if (nodeStartedAt !== null) {
      if (state.startedAt !== nodeStartedAt) {
        throw new Error("it is another server than the coordinator has under this name");
      }
      if (hosts.isPooled) throw new Error("a pooler stands in front of it");
    } else if (state.isDistributed) {
      await this.#refuseWorker();
      this.isToCoordinator = true;
      this.transactionSettings = settingsToPassOn(this.#options);
    }
    return state;
  }

  /**
   * Writes through a node of a cluster that is not its coordinator are lost where their ledger moves between two others
   * meanwhile (docs/decisions/0020). A name may lead to another node than at the start.
   */
  async #refuseWorker(): Promise<void> {
    const { rows } = await this.query<{ isWorker: boolean; coordinator: string | null }>(`
      SELECT groupid <> 0 AS "isWorker",
             (SELECT concat(nodename, ':', nodeport) FROM pg_dist_node
               WHERE groupid = 0 AND noderole = 'primary') AS coordinator
        FROM pg_dist_local_group`);
    if (rows[0]?.isWorker === false) return;
    throw new Error(
      "it is not the coordinator of its cluster; " +
        `let the database URL name the one that is (${rows[0]?.coordinator ?? "unknown"})`,
    );
  }

  /**
   * PostgreSQL looks at a connection only between statements, unless it is set to look: a statement whose caller is
   * gone would be worked on to its end, which for sums over years is minutes.
   */
  async #detectDisconnects(): Promise<void> {
    try {
      await this.query(`SET client_connection_check_interval = ${disconnectDetectedWithinMs}`);
    } catch {
      // Where the database's system can't detect it (Windows), it refuses. After any other failure the next statement
      // fails too.
    }
  }
}
