// What the database does for the statements of the store: it runs each as the service has it planned, and counts.
import type { Client } from "pg";
import { Connection } from "../../src/store/database/connection.ts";
import { parameterText } from "../../src/store/database/parameter-text.ts";
import type { ShardNames } from "../../src/store/database/shard-names.ts";
import { queryText, type Statement } from "../../src/store/database/statement.ts";
import { pgTypes } from "../../src/store/database/value-parsers.ts";

export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

/** Once for all values, as connections that keep plans have it, or for the values that are sent. */
export const plannings = ["force_generic_plan", "force_custom_plan"] as const;
export type Planning = (typeof plannings)[number];

type Value = ReturnType<typeof parameterText>;

/** What the database tells of a statement, planned as a connection has it planned. */
async function explain(
  client: Client,
  planning: Planning,
  options: string,
  text: string,
  values: readonly Value[],
) {
  await client.query("DEALLOCATE ALL");
  await client.query(`SET LOCAL plan_cache_mode = ${planning}`);
  await client.query(`PREPARE explained AS ${text}`);
  const literals = values.map((value) =>
    value === null ? "NULL" : client.escapeLiteral(String(value)),
  );
  return client.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
    `EXPLAIN (${options}) EXECUTE explained ${literals.length === 0 ? "" : `(${literals.join()})`}`,
  );
}

/** Carries statements out one at a time, on a client that is in a transaction. */
abstract class OneByOne extends Connection {
  protected readonly client: Client;
  readonly #shards: ShardNames | null;
  #latest: Promise<unknown> = Promise.resolve();

  /** `shards`: of the ledgers that statements are about, where the client is connected to the node that has them. */
  constructor(client: Client, shards: ShardNames | null = null) {
    super();
    this.client = client;
    this.#shards = shards;
  }

  /** Waits for what was sent. */
  async settled(): Promise<void> {
    await this.#latest;
  }

  protected override send(statement: Statement): Promise<readonly object[]> {
    const sent = this.#latest.then(async () => {
      const query = queryText(statement);
      const { text } = this.#shards?.rename(query) ?? query;
      const values = statement.values.map(parameterText);
      await this.explain(text, values);
      const { rows } = await this.client.query<object>({ text, values, types: pgTypes });
      return rows;
    });
    this.#latest = sent.catch(() => undefined);
    return sent;
  }

  override transaction<Result>(work: (part: Connection) => Promise<Result>): Promise<Result> {
    return work(this);
  }

  /** Called before a statement is carried out. */
  protected abstract explain(text: string, values: readonly Value[]): Promise<void>;
}

/** Has each statement explained before it is carried out. */
export class ExplainingConnection extends OneByOne {
  /** Of the statements that were sent, as they were carried out. */
  readonly plans: PlanNode[] = [];
  readonly #planning: Planning;

  constructor(client: Client, planning: Planning) {
    super(client);
    this.#planning = planning;
  }

  protected override async explain(text: string, values: readonly Value[]): Promise<void> {
    await this.client.query("SAVEPOINT explained");
    const options = "ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON";
    const { rows } = await explain(this.client, this.#planning, options, text, values);
    const plan = rows[0]?.["QUERY PLAN"][0]?.Plan;
    if (plan === undefined) throw new Error("a statement has a plan");
    this.plans.push(plan);
    await this.client.query("ROLLBACK TO explained");
  }
}

/** Tells of each statement to how many parts of tables Citus sends it. */
export class TaskCountingConnection extends OneByOne {
  /** None for a statement that needs no other node. */
  readonly taskCounts: { readonly text: string; readonly tasks: readonly number[] }[] = [];

  protected override async explain(text: string, values: readonly Value[]): Promise<void> {
    const { rows } = await explain(this.client, "force_custom_plan", "FORMAT JSON", text, values);
    const counts = JSON.stringify(rows).matchAll(/"Task Count":(\d+)/g);
    this.taskCounts.push({ text, tasks: [...counts].map(([, count]) => Number(count)) });
  }
}

/**
 * What a statement cost: the rows that its steps had, those left out too, or the pages that it touched, whichever is
 * more. Of a small page looked up by key there are a few for each row; a table that is walked has all of its own.
 */
export function costOf(plan: PlanNode): number {
  return Math.max(rowsOf(plan), blocksTouched(plan));
}

/** The pages that a statement touched, those of long values too. */
export function blocksTouched(plan: PlanNode): number {
  return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
}

function rowsOf(plan: PlanNode): number {
  const rows =
    plan["Actual Rows"] +
    (plan["Rows Removed by Filter"] ?? 0) +
    (plan["Rows Removed by Join Filter"] ?? 0) +
    (plan["Rows Removed by Index Recheck"] ?? 0);
  return Math.round(
    (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), rows * plan["Actual Loops"]),
  );
}

/** Tables that a plan walks from end to end. */
export function tablesWalked(plan: PlanNode): string[] {
  const own = plan["Node Type"] === "Seq Scan" ? [plan["Relation Name"] ?? ""] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(tablesWalked)];
}
