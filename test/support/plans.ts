// How the database carries statements out: its plans, and what must hold of those of the write path. Each reads
// by whole keys of an index; one that scans a ledger gets slower with it.
import { Client } from "pg";
import { expect } from "vitest";
import type { StatementSender } from "../../src/store/write-connections.ts";
import { createTestDatabase } from "./database.ts";

export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "TID Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** A statement, and of each table that it reads the columns of which an index condition must hold all. */
export interface PlannedStatement {
  readonly name: string;
  readonly send: (sender: StatementSender) => Promise<unknown>;
  readonly scans: Readonly<Record<string, readonly string[]>>;
}

/** For the values that are sent, or once for all values, as connections that keep plans have it. */
export const plannings = ["for its values", "for all values"] as const;
type Planning = (typeof plannings)[number];

/** A migrated database on which statistics of the tables are taken only when a test asks for them. */
export async function openPlannedDatabase(
  tables: readonly string[],
): Promise<{ client: Client; close: () => Promise<void> }> {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  for (const table of tables)
    await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
  return {
    client,
    close: async () => {
      await client.end();
      await database.drop();
    },
  };
}

/** The scans of tables in the plan of what is sent, which has to be one statement. */
export async function scansOf(
  client: Client,
  { send }: PlannedStatement,
  planning: Planning,
): Promise<readonly PlanNode[]> {
  const plans: PlanNode[] = [];
  const sender: StatementSender = {
    send: async ({ text }, values) => {
      const { rows } = await explain(client, text, values, planning);
      plans.push(...rows.flatMap((row) => row["QUERY PLAN"].map(({ Plan }) => Plan)));
      return [];
    },
  };
  await send(sender);
  expect(plans).toHaveLength(1);
  return plans.flatMap(scansIn);
}

function explain(client: Client, text: string, values: readonly unknown[], planning: Planning) {
  type Row = { "QUERY PLAN": { Plan: PlanNode }[] };
  if (planning === "for its values") {
    return client.query<Row>(`EXPLAIN (FORMAT JSON) ${text}`, [...values]);
  }
  return client
    .query("DEALLOCATE ALL; SET plan_cache_mode = force_generic_plan")
    .then(() => client.query(`PREPARE planned AS ${text}`))
    .then(() => {
      const nulls = values.map(() => "NULL").join();
      const parameters = values.length === 0 ? "" : `(${nulls})`;
      return client.query<Row>(`EXPLAIN (FORMAT JSON) EXECUTE planned${parameters}`);
    });
}

export function scansIn(plan: PlanNode): PlanNode[] {
  const own = plan["Node Type"].endsWith("Scan") && plan["Relation Name"] !== undefined;
  return [...(own ? [plan] : []), ...(plan.Plans ?? []).flatMap(scansIn)];
}

/** Expects that a statement reads the tables that it names, and each by the whole of a key. */
export function expectWholeKeys(found: readonly PlanNode[], { scans }: PlannedStatement): void {
  expect(new Set(found.map((scan) => scan["Relation Name"]))).toEqual(new Set(Object.keys(scans)));
  for (const scan of found) {
    const place = JSON.stringify(scan);
    expect(place).not.toContain('"Seq Scan"');
    // A row whose place is known is read there.
    const columns = "TID Cond" in scan ? ["ctid"] : scans[scan["Relation Name"] ?? ""];
    for (const column of columns ?? []) {
      expect(conditionOf(scan), place).toMatch(new RegExp(`\\b${column}\\)? (=|>=?) `));
    }
  }
}

/** What narrows a scan: the condition of its index, or of the bitmap's that stands below it. */
function conditionOf(scan: PlanNode): string {
  return scan["TID Cond"] ?? scan["Index Cond"] ?? scan.Plans?.map(conditionOf).join() ?? "";
}
