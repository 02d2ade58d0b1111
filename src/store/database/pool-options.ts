// What a pool is told, and the options of its sessions that follow from it.
import type { DatabaseHosts } from "./hosts.ts";
import type { SessionOptions } from "./session.ts";
import { pgTypes } from "./value-parsers.ts";

export interface PoolOptions {
  readonly databaseUrl: string;
  readonly connectionsMax: number;
  /** How long what is sent in one tick may go unanswered before its connection counts as broken. */
  readonly answerTimeoutMs: number;
  /** Shown in pg_stat_activity behind "ledgerctl". */
  readonly purpose?: string;
  /**
   * For pools that lock: how long a statement waits for a lock before it fails (SQLSTATE 55P03). A transaction that
   * is left alone for 30 s is then ended by the database, too.
   */
  readonly lockTimeoutMs?: number;
  /** Connections that work with a signal, which others wait for, leaves to the rest; 0 unless given. */
  readonly reservedConnections?: number;
  /**
   * Has the database cancel a statement that takes longer than `answerTimeoutMs`, so that its connection is kept.
   * Not where acknowledged writes are made: a COMMIT whose wait for a standby is cancelled looks as if it had had one.
   */
  readonly cancelsLateStatements?: boolean;
  /**
   * Keeps statements' errors out of the database's log: they are answered here, and every duplicate is
   * several. Only a superuser may, as ledgerctl is in the embedded database.
   */
  readonly isLogSuppressed?: boolean;
  /**
   * Prepares statements and keeps their plans up to a second, but for those in `transaction`: for short ones that
   * are sent over and over, whose planning is a third of their work. Elsewhere each is planned for its values.
   */
  readonly keepsPlans?: boolean;
  /** For a pool on a node of a Citus cluster: `nodeStartedAt` of its sessions. */
  readonly nodeStartedAt?: string;
}

/** A statement that takes no longer than this ends soon enough after its caller is gone. */
const shortMs = 10_000;

/** How the sessions of a pool are set. */
export function sessionOptions(options: PoolOptions, hosts: DatabaseHosts): SessionOptions {
  const { answerTimeoutMs, lockTimeoutMs, keepsPlans, cancelsLateStatements, purpose } = options;
  return {
    hosts,
    applicationName: purpose === undefined ? "ledgerctl" : `ledgerctl ${purpose}`,
    settings: {
      plan_cache_mode: keepsPlans === true ? "force_generic_plan" : "force_custom_plan",
      ...(lockTimeoutMs === undefined
        ? {}
        : { lock_timeout: `${lockTimeoutMs}ms`, idle_in_transaction_session_timeout: "30s" }),
      ...(cancelsLateStatements === true ? { statement_timeout: `${answerTimeoutMs}ms` } : {}),
      // In the order of this setting, errors come below plain messages.
      ...(options.isLogSuppressed === true ? { log_min_messages: "log" } : {}),
    },
    driver: {
      types: pgTypes,
      pipeline: true,
      keepAlive: true,
      // A statement that the database itself cancels is answered in between.
      query_timeout: answerTimeoutMs + (cancelsLateStatements === true ? 1_000 : 0),
    },
    detectsDisconnects: answerTimeoutMs > shortMs,
    nodeStartedAt: options.nodeStartedAt ?? null,
  };
}
