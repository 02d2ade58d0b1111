// How the database carries statements out: its plans, and what must hold of those of the write path, whatever the
// tables held when they were last analyzed. Each reads by whole keys of an index; one that scans a ledger gets slower
// with it.
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Connection } from "../../src/store/database/connection.ts";
import { parameterText } from "../../src/store/database/parameter-text.ts";
import { queryText, type Statement } from "../../src/store/database/statement.ts";
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
  readonly send: (connection: Connection) => Promise<unknown>;
  readonly scans: Readonly<Record<string, readonly string[]>>;
}

interface PlannedBooks {
  /** What the statements read; statistics of them are taken only when a test asks for them. */
  readonly tables: readonly string[];
  /** Puts so many rows of one ledger into the tables that its id alone narrows nothing. */
  readonly fill: (client: Client) => Promise<void>;
  readonly statements: readonly PlannedStatement[];
}

/** For the values that are sent, or once for all values, as connections that keep plans have it. */
const plannings = ["for its values", "for all values"] as const;
type Planning = (typeof plannings)[number];

/** Tests the plans of statements on tables that are full, empty, and filled since they were analyzed. */
export function describePlans({ tables, fill, statements }: PlannedBooks): void {
  let client: Client;
  let close: () => Promise<void>;
  const analyze = () => client.query("VACUUM ANALYZE");
  const states: [string, () => Promise<unknown>][] = [
    ["that are filled and analyzed", () => fill(client).then(analyze)],
    ["that were filled and never analyzed", () => fill(client)],
    ["that were filled after they had been analyzed", () => analyze().then(() => fill(client))],
  ];

  async function openDatabase(): Promise<void> {
    ({ client, close } = await openPlannedDatabase(tables));
  }

  describe.each(states)("on tables %s", (_, reach) => {
    beforeAll(async () => {
      await openDatabase();
      await reach();
    });
    afterAll(() => close());

    describe.each(plannings)("planned %s", (planning) => {
      test.each(statements)("$name reads by whole keys", async (statement) => {
        expectWholeKeys(await scansOf(client, statement, planning), statement);
      });
    });
  });

  describe("on empty tables", () => {
    beforeAll(openDatabase);
    afterAll(() => close());

    // Which index it is does not matter yet: no plan is kept for long.
    describe.each(plannings)("planned %s", (planning) => {
      test.each(statements)("$name scans no table", async (statement) => {
        const found = await scansOf(client, statement, planning);
        expect(found.map((scan) => scan["Node Type"])).not.toContain("Seq Scan");
      });
    });
  });
}

async function openPlannedDatabase(
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
async function scansOf(
  client: Client,
  { send }: PlannedStatement,
  planning: Planning,
): Promise<readonly PlanNode[]> {
  const plans: PlanNode[] = [];
  class ExplainingConnection extends Connection {
    protected override async send(statement: Statement): Promise<readonly object[]> {
      const { rows } = await explain(
        client,
        queryText(statement).text,
        statement.values.map(parameterText),
        planning,
      );
      plans.push(...rows.flatMap((row) => row["QUERY PLAN"].map(({ Plan }) => Plan)));
      return [];
    }

    override transaction<Result>(work: (part: Connection) => Promise<Result>): Promise<Result> {
      return work(this);
    }
  }
  await send(new ExplainingConnection()).catch(ignoreMissingRow);
  expect(plans).toHaveLength(1);
  return plans.flatMap(scansIn);
}

/** Whoever reads one row has none here: it was only explained. */
function ignoreMissingRow(error: unknown): void {
  if (!/gave none/.test(String(error))) throw error;
}

async function explain(
  client: Client,
  text: string,
  values: readonly unknown[],
  planning: Planning,
) {
  type Row = { "QUERY PLAN": { Plan: PlanNode }[] };
  if (planning === "for its values") {
    return client.query<Row>(`EXPLAIN (FORMAT JSON) ${text}`, [...values]);
  }
  await client.query("DEALLOCATE ALL; SET plan_cache_mode = force_generic_plan");
  await client.query(`PREPARE planned AS ${text}`);
  const nulls = values.map(() => "NULL").join();
  const parameters = values.length === 0 ? "" : `(${nulls})`;
  return client.query<Row>(`EXPLAIN (FORMAT JSON) EXECUTE planned${parameters}`);
}

function scansIn(plan: PlanNode): PlanNode[] {
  const own = plan["Node Type"].endsWith("Scan") && plan["Relation Name"] !== undefined;
  return [...(own ? [plan] : []), ...(plan.Plans ?? []).flatMap(scansIn)];
}

/** Expects that a statement reads the tables that it names, and each by the whole of a key. */
function expectWholeKeys(found: readonly PlanNode[], { scans }: PlannedStatement): void {
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
