// Poolers between us and PostgreSQL: whether one gives each session a backend of its own, as a session has without it.
import { DatabaseUnavailable } from "../database-unavailable.ts";
import type { DatabaseHosts } from "./hosts.ts";
import { sessionMaker, type Session } from "./session.ts";

const answerTimeoutMs = 5_000;

/**
 * Whether a pooler puts the backends of others behind a session, which it does in its transaction and statement
 * modes: a reason to use it no further, or null. Without a pooler nothing is asked. Rejects where it can't be learned.
 */
export async function findSharing(hosts: DatabaseHosts): Promise<DatabaseUnavailable | null> {
  if (!hosts.isPooled || (await keepBackends(hosts))) return null;
  return new DatabaseUnavailable(
    "the pooler in front of the database does not keep a connection for each session, so that their settings and " +
      "prepared statements get lost. Set pool_mode = session for this database (PgBouncer), or connect to PostgreSQL " +
      "itself.",
  );
}

/** Throws DatabaseUnavailable where a pooler shares backends between sessions. */
export async function requireOwnBackends(hosts: DatabaseHosts): Promise<void> {
  const sharing = await findSharing(hosts);
  if (sharing !== null) throw sharing;
}

/**
 * Two sessions that are open at the same time are asked in turn for their backends. Those that have their own give
 * two that stay the same; those that share give one for both, or one changes.
 */
async function keepBackends(hosts: DatabaseHosts): Promise<boolean> {
  const makeSession = sessionMaker({
    hosts,
    applicationName: "ledgerctl pooler check",
    settings: {},
    driver: { query_timeout: answerTimeoutMs },
    detectsDisconnects: false,
  });
  const sessions = [makeSession(), makeSession()];
  try {
    for (const session of sessions) await session.open();
    const seen = new Map(sessions.map((session) => [session, new Set<number | undefined>()]));
    // Once in turn, and once not: a pooler may hand out its backends in turn, too.
    for (const session of [...sessions, ...sessions, ...sessions.toReversed()]) {
      seen.get(session)?.add(await backendOf(session));
    }
    const backends = [...seen.values()].flatMap((own) => [...own]);
    return backends.length === sessions.length && new Set(backends).size === sessions.length;
  } finally {
    for (const session of sessions) session.cut();
  }
}

async function backendOf(session: Session): Promise<number | undefined> {
  const { rows } = await session.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid;
}
