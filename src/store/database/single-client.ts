// One connection without a pool and without pipelining, for what those can't do: migrations and COPY.
import type { Client } from "pg";
import type { z } from "zod";
import { ConnectionBroken } from "./errors.ts";
import { hostsOf } from "./hosts.ts";
import { requireOwnBackends } from "./pooler.ts";
import { openSession } from "./session.ts";
import { queryText, type Statement } from "./statement.ts";
import { pgTypes } from "./value-parsers.ts";

/**
 * Runs `work` with a connection of its own, and closes it. `purpose` is shown in pg_stat_activity behind "ledgerctl".
 * Rejects with ConnectionBroken where the connection is lost, and with DatabaseUnavailable behind a pooler that shares
 * backends.
 */
export async function withSingleClient<Result>(
  databaseUrl: string,
  purpose: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const hosts = hostsOf(databaseUrl);
  const client = await openSession({
    hosts,
    applicationName: `ledgerctl ${purpose}`,
    settings: {},
    driver: {},
    detectsDisconnects: false,
  });
  const breaks: ConnectionBroken[] = [];
  client.on("error", (error) => breaks.push(new ConnectionBroken(error)));
  try {
    // Before anything is locked: behind a pooler that shares backends, it would stay locked.
    await requireOwnBackends(hosts);
    return await work(client);
  } catch (error) {
    throw breaks[0] ?? error;
  } finally {
    await client.end();
  }
}

/** The rows of a statement, each checked against its schema. */
export async function anyRows<Row extends z.ZodType>(
  client: Client,
  statement: Statement<Row>,
): Promise<z.output<Row>[]> {
  const { text } = queryText(statement);
  const { rows } = await client.query<object>({
    text,
    values: [...statement.values],
    types: pgTypes,
  });
  return rows.map((row) => statement.parser.parse(row));
}

/** The one row of a statement. */
export async function oneRow<Row extends z.ZodType>(
  client: Client,
  statement: Statement<Row>,
): Promise<z.output<Row>> {
  const [row, ...more] = await anyRows(client, statement);
  if (row === undefined || more.length > 0) {
    throw new Error("a statement for one row gave another number");
  }
  return row;
}
