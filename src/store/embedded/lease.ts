// A process's claim on a running database: one connection that holds a shared lock. Whoever can take the
// lock alone knows that nobody else uses the database, and may stop it. A crash gives the claim back by itself.
import { Client } from "pg";
import { ignoring } from "./system-error.ts";

// Any constant will do; "ledgerctl lease" has no meaning to PostgreSQL.
const lockKey = 7_105_110_103;
// The lease lives here and not in the ledger's database, so that a restore may drop and make that one.
const maintenanceDatabase = "postgres";
const connectTimeoutMs = 10_000;

export interface DatabaseConnection {
  /** The directory of the Unix socket. */
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
}

export interface Lease {
  /** To the ledger's database. */
  connection: DatabaseConnection;
  /** Resolves when the connection is gone, whoever ended it. */
  ended: Promise<void>;
  /** True: nobody else holds a lease, none can be had until `close`, and the database is to be stopped. */
  release(): Promise<boolean>;
  close(): Promise<void>;
}

/** Undefined while somebody is stopping the database. Rejects with the driver's error when it can't be reached. */
export async function takeLease(connection: DatabaseConnection): Promise<Lease | undefined> {
  const client = new Client({
    ...connection,
    database: maintenanceDatabase,
    application_name: "ledgerctl lease",
    connectionTimeoutMillis: connectTimeoutMs,
    ssl: false,
  });
  const ended = new Promise<void>((resolve) => {
    client.once("end", resolve);
    // Without a listener a lost connection would end the process; "end" follows.
    client.on("error", () => undefined);
  });
  const close = () => client.end().catch(() => undefined);
  try {
    await client.connect();
    if (!(await askLock(client, "SELECT pg_try_advisory_lock_shared($1) AS answer"))) {
      await close();
      return undefined;
    }
    await ensureDatabase(client, connection.database);
  } catch (error) {
    void close();
    throw error;
  }
  const release = async () => {
    await askLock(client, "SELECT pg_advisory_unlock_shared($1) AS answer");
    return await askLock(client, "SELECT pg_try_advisory_lock($1) AS answer");
  };
  return { connection, ended, release, close };
}

async function askLock(client: Client, question: string): Promise<boolean> {
  const { rows } = await client.query<{ answer: boolean }>(question, [lockKey]);
  return rows[0]?.answer === true;
}

async function ensureDatabase(client: Client, name: string): Promise<void> {
  const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
  if (rowCount !== 0) return;
  // By copying files: in a cluster where nothing else is under way, a sixth of the time that the default strategy takes (WAL_LOG).
  const creation = client.query(
    `CREATE DATABASE ${client.escapeIdentifier(name)} STRATEGY file_copy`,
  );
  // 42P04 duplicate_database, or 23505 when the other first starter is still at it.
  await ignoring(creation, "42P04", "23505");
}
