// Spreading a migrated database over the nodes of a Citus cluster: which tables are copied to every node, which are split
// by ledger, and how acts of administration are recorded there (docs/decisions/0020).
import type { Client } from "pg";
import * as z from "zod";
import { tablesBesideActs } from "./administration-acts.ts";
import { anyRows, oneRow, withSingleClient } from "./database/single-client.ts";
import { sql } from "./database/statement.ts";
import { DatabaseUnavailable } from "./database-unavailable.ts";

const citusVersionMin = 12;

const clusterRow = z.object({
  version: z.string(),
  isCoordinator: z.boolean(),
  workers: z.number(),
});

const tableRow = z.object({ name: z.string(), isCopied: z.boolean() });

/**
 * Spreads the tables of a migrated database, and returns the names of those that were not spread before. One transaction; it
 * waits for whoever uses the tables. Throws DatabaseUnavailable where the database is not the coordinator of a cluster, or
 * where another program of ours is connected the first time.
 */
export async function distribute(databaseUrl: string): Promise<readonly string[]> {
  return withSingleClient(databaseUrl, "migrate", async (client) => {
    await requireCoordinator(client);
    return distributeTables(client);
  });
}

/** Spreads the tables that new migrations have made; none on one machine. */
export async function distributeNewTables(client: Client): Promise<void> {
  if (await isDistributed(client)) await distributeTables(client);
}

async function distributeTables(client: Client): Promise<readonly string[]> {
  await client.query("BEGIN");
  await client.query(distributingSettings);
  const isFirst = !(await isDistributed(client));
  if (isFirst) {
    await client.query(recordActsBesideRows);
    await requireNobodyElse(client);
    await client.query(dropTriggers);
  }
  const tables = await listUndistributedTables(client);
  for (const { name, isCopied } of tables) {
    if (isCopied) await client.query("SELECT create_reference_table($1)", [name]);
    else await client.query(splitTable, [name, name === firstTable ? "none" : firstTable]);
  }
  if (isFirst) {
    // What was moved is still on the coordinator, where nobody sees it. Tables that refer to others go first.
    for (const { name } of tables.toReversed()) await client.query(truncateMoved, [name]);
    await client.query(makeTriggersAnew);
  }
  await client.query("COMMIT");
  return tables.map(({ name }) => name);
}

/** Whether the tables of ledgers are spread over nodes. */
async function isDistributed(client: Client): Promise<boolean> {
  const { isThere } = await oneRow(
    client,
    sql.type(z.object({ isThere: z.boolean() }))`
      SELECT to_regclass('ledger_acts') IS NOT NULL AS "isThere"`,
  );
  return isThere;
}

async function requireCoordinator(client: Client): Promise<void> {
  const { rows } = await client.query("SELECT FROM pg_extension WHERE extname = 'citus'");
  if (rows.length === 0) {
    throw new DatabaseUnavailable(
      "the database has no Citus: install it on each node and CREATE EXTENSION citus there, " +
        "then add the nodes on the coordinator (docs/operations.md)",
    );
  }
  const { version, isCoordinator, workers } = await oneRow(
    client,
    sql.type(clusterRow)`
      SELECT extversion AS version, citus_is_coordinator() AS "isCoordinator",
             (SELECT count(*)::integer FROM pg_dist_node
               WHERE isactive AND noderole = 'primary' AND shouldhaveshards) AS workers
        FROM pg_extension WHERE extname = 'citus'`,
  );
  if (Number.parseInt(version) < citusVersionMin) {
    throw new DatabaseUnavailable(`Citus ${version} is too old: use ${citusVersionMin} or newer`);
  }
  if (!isCoordinator) {
    throw new DatabaseUnavailable(
      "this node is not the coordinator of a cluster: connect to the one that is, and have it tell the others " +
        "where it is (citus_set_coordinator_host)",
    );
  }
  if (workers === 0) {
    throw new DatabaseUnavailable(
      "the coordinator has no node to spread tables to: add one (citus_add_node)",
    );
  }
}

/** A session that began before keeps plans that Citus can't carry out, and does not tell other nodes what it has set. */
async function requireNobodyElse(client: Client): Promise<void> {
  const { rows } = await client.query<{ who: string }>(
    `SELECT DISTINCT concat_ws(' from ', application_name, host(client_addr)) AS who
       FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend' AND application_name NOT LIKE 'citus%'`,
  );
  if (rows.length === 0) return;
  throw new DatabaseUnavailable(
    `others are connected to the database (${rows.map(({ who }) => who).join(", ")}): stop them first`,
  );
}

/** Citus holds triggers unsafe because they could reach for rows of other nodes. Ours write beside the row they get. */
const distributingSettings = `
  SET LOCAL citus.enable_unsafe_triggers = on;
  SET LOCAL citus.multi_shard_modify_mode = 'sequential';
  SET LOCAL client_min_messages = error`;

/** What the rows of all ledgers refer to, and what a server on any node looks at. */
const copiedTables = ["organizations", "api_keys", "ledgers", "schema_migrations"];

/** The first of the tables that are split by ledger; the others are stored beside it. */
const firstTable = "ledger_states";

const actedOnTables = tablesBesideActs.map((table) => `'${table}'`).join(", ");

const splitTable = "SELECT create_distributed_table($1, 'ledger_id', colocate_with => $2)";

const truncateMoved = "SELECT truncate_local_data_after_distributing_table($1)";

/** Those to be copied, and those whose key begins with the ledger. What is left is on the coordinator alone. */
function listUndistributedTables(client: Client) {
  return anyRows(
    client,
    sql.type(tableRow)`
      SELECT name, "isCopied"
        FROM (
          SELECT tables.oid, tables.relname AS name,
                 array_position(${sql.array(copiedTables, "text")}, tables.relname::text) AS place,
                 tables.relname = ANY (${sql.array(copiedTables, "text")}) AS "isCopied"
            FROM pg_class AS tables
            LEFT JOIN pg_index AS keys ON keys.indrelid = tables.oid AND keys.indisprimary
            LEFT JOIN pg_attribute AS columns
              ON columns.attrelid = tables.oid AND columns.attnum = keys.indkey[0]
           WHERE tables.relnamespace = current_schema()::regnamespace AND tables.relkind = 'r'
             AND (columns.attname = 'ledger_id' OR tables.relname = ANY (${sql.array(copiedTables, "text")}))
        ) AS tables
       WHERE NOT EXISTS (
               SELECT 1 FROM pg_dist_partition
                WHERE logicalrelid = tables.oid AND (partmethod = 'h' OR repmodel = 't'))
       ORDER BY place, name <> ${firstTable}, name`,
  );
}

/**
 * Acts about the rows of a ledger get a record of their own for each ledger, stored beside them: a trigger on a part of a
 * table can write to what is on its own node only. What was recorded before is taken over. Of what is copied to every
 * node, the coordinator's triggers alone record.
 */
const recordActsBesideRows = `
  LOCK TABLE organizations, api_keys, ledgers, ledger_states, accounts, asset_rules, period_closes
    IN ACCESS EXCLUSIVE MODE;

  CREATE TABLE ledger_acts (
    ledger_id uuid NOT NULL,
    number bigint NOT NULL,
    at timestamptz NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    record jsonb NOT NULL,
    operator text,
    database_role text NOT NULL,
    program text NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT ledger_acts_pkey PRIMARY KEY (ledger_id, number),
    CONSTRAINT ledger_acts_kind_check CHECK (kind IN ('made', 'changed', 'removed', 'adopted')),
    CONSTRAINT ledger_acts_hash_check CHECK (octet_length(hash) = 32)
  );
  COMMENT ON TABLE ledger_acts IS
    'An act of administration about a row of a ledger, as in administration_acts; numbered and chained in its ledger. Never changes.';
  CREATE INDEX ledger_acts_at_idx ON ledger_acts (at);
  CREATE TRIGGER ledger_acts_append_only BEFORE UPDATE OR DELETE ON ledger_acts
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
  CREATE TRIGGER ledger_acts_no_truncate BEFORE TRUNCATE ON ledger_acts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

  CREATE FUNCTION append_ledger_act(acts text, act ledger_acts) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    previous ledger_acts;
  BEGIN
    -- One after the other, until the transaction ends: the chain has no forks.
    PERFORM pg_advisory_xact_lock(hashtextextended('acts of ledger ' || act.ledger_id, 0));
    EXECUTE format('SELECT * FROM %I WHERE ledger_id = $1 ORDER BY number DESC LIMIT 1', acts)
       INTO previous USING act.ledger_id;
    act.number := coalesce(previous.number, 0) + 1;
    act.at := greatest(act.at, previous.at);
    act.hash := sha256(coalesce(previous.hash, ''::bytea) || convert_to((
      SELECT string_agg(coalesce(octet_length(field) || ':' || field, '-'), ',' ORDER BY place)
        FROM unnest(ARRAY[
               act.number::text,
               to_char(act.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
               act.kind, act.subject, act.ledger_id::text, act.record::text,
               act.operator, act.database_role, act.program
             ]) WITH ORDINALITY AS fields (field, place)), 'UTF8'));
    EXECUTE format('INSERT INTO %I SELECT ($1).*', acts) USING act;
  END
  $$;
  COMMENT ON FUNCTION append_ledger_act IS
    'Appends an act to the record of its ledger, in the part of ledger_acts that is named. Not for other roles than the owner.';
  REVOKE EXECUTE ON FUNCTION append_ledger_act FROM PUBLIC;

  CREATE FUNCTION record_ledger_act() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  DECLARE
    acts text := 'ledger_acts';
    act ledger_acts;
  BEGIN
    act.subject := regexp_replace(TG_TABLE_NAME, '_[0-9]+$', '');
    IF act.subject <> TG_TABLE_NAME THEN
      -- The part that is stored beside this one: both have the same bounds.
      SELECT 'ledger_acts_' || beside.shardid INTO STRICT acts
        FROM pg_dist_shard AS own
        JOIN pg_dist_shard AS beside
          ON beside.shardminvalue = own.shardminvalue AND beside.logicalrelid = 'ledger_acts'::regclass
       WHERE own.shardid = substring(TG_TABLE_NAME FROM '[0-9]+$')::bigint;
    END IF;
    act.kind := CASE TG_OP WHEN 'INSERT' THEN 'made' WHEN 'UPDATE' THEN 'changed' ELSE 'removed' END;
    act.record := CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
    act.ledger_id := act.record ->> 'ledger_id';
    act.at := date_trunc('milliseconds', clock_timestamp());
    act.operator := nullif(current_setting('ledgerctl.operator', true), '');
    act.database_role := session_user;
    act.program := coalesce(nullif(current_setting('ledgerctl.program', true), ''),
                            current_setting('application_name'));
    PERFORM append_ledger_act(acts, act);
    RETURN NULL;
  END
  $$;
  COMMENT ON FUNCTION record_ledger_act IS
    'Appends what was done to a row of a ledger to the record of the ledger''s administration.';

  CREATE OR REPLACE FUNCTION record_administration_act() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER AS $$
  DECLARE
    subject text := regexp_replace(TG_TABLE_NAME, '_[0-9]+$', '');
  BEGIN
    IF (SELECT groupid <> 0 FROM pg_dist_local_group) THEN
      RETURN NULL;
    END IF;
    CASE TG_OP
      WHEN 'INSERT' THEN
        PERFORM append_administration_act('made', subject, to_jsonb(NEW));
      WHEN 'UPDATE' THEN
        PERFORM append_administration_act('changed', subject, to_jsonb(NEW));
      ELSE
        PERFORM append_administration_act('removed', subject, to_jsonb(OLD));
    END CASE;
    RETURN NULL;
  END
  $$;

  DO $$
  DECLARE
    changed text;
    recorded ledger_acts;
  BEGIN
    -- As in migration 0007.
    FOREACH changed IN ARRAY ARRAY['record_ledger_act', 'record_administration_act'] LOOP
      EXECUTE format(
        'ALTER FUNCTION %I() SET TimeZone = ''UTC'' SET enable_seqscan = off SET search_path = %I, pg_temp',
        changed, current_schema());
    END LOOP;
    SET LOCAL enable_seqscan = off;
    FOR recorded IN
      SELECT ledger_id, NULL::bigint, at, kind, subject, record, operator, database_role, program, NULL::bytea
        FROM administration_acts
       WHERE subject IN (${actedOnTables})
       ORDER BY number
    LOOP
      PERFORM append_ledger_act('ledger_acts', recorded);
    END LOOP;
    RESET enable_seqscan;
  END
  $$`;

/**
 * Rows that move to the nodes are no new ones to those who record, and what they leave behind may be truncated: triggers are
 * made anew afterwards. The one against programs that do not chain wallets' logs goes: it asks for a setting that a session
 * has on its own node only, and no such program runs on Citus.
 */
const dropTriggers = `
  CREATE TEMPORARY TABLE triggers_aside ON COMMIT DROP AS
    SELECT tgname AS name, relname AS of, pg_get_triggerdef(triggers.oid) AS definition
      FROM pg_trigger AS triggers
      JOIN pg_class AS tables ON tables.oid = tgrelid
     WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace;
  DO $$
  DECLARE
    trigger triggers_aside;
  BEGIN
    FOR trigger IN SELECT * FROM triggers_aside LOOP
      EXECUTE format('DROP TRIGGER %I ON %I', trigger.name, trigger.of);
    END LOOP;
  END
  $$`;

/** With what those who record call on each node. */
const makeTriggersAnew = `
  SELECT create_distributed_function('append_ledger_act(text, ledger_acts)');
  DO $$
  DECLARE
    trigger triggers_aside;
  BEGIN
    FOR trigger IN SELECT * FROM triggers_aside WHERE name <> 'wallets_chained' LOOP
      IF trigger.of IN (${actedOnTables}) THEN
        trigger.definition := replace(trigger.definition, 'record_administration_act', 'record_ledger_act');
      END IF;
      EXECUTE trigger.definition;
    END LOOP;
  END
  $$`;
