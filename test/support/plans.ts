// What the database does for the statements of the store: it runs each as the service has it planned, and counts.
import type { Client } from "pg";
import { Connection } from "../../src/store/database/connection.ts";
import { parameterText } from "../../src/store/database/parameter-text.ts";
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

/** Has each statement explained before it is carried out, one at a time. */
export class ExplainingConnection extends Connection {
  /** Of the statements that were sent, as they were carried out. */
  readonly plans: PlanNode[] = [];
  readonly #client: Client;
  readonly #planning: Planning;
  #latest: Promise<unknown> = Promise.resolve();

  /** `client` is in a transaction. */
  constructor(client: Client, planning: Planning) {
    super();
    this.#client = client;
    this.#planning = planning;
  }

  /** Waits for what was sent. */
  async settled(): Promise<void> {
    await this.#latest;
  }

  protected override send(statement: Statement): Promise<readonly object[]> {
    const sent = this.#latest.then(() => this.#send(statement));
    this.#latest = sent.catch(() => undefined);
    return sent;
  }

  async #send(statement: Statement): Promise<readonly object[]> {
    const { text } = queryText(statement);
    const values = statement.values.map(parameterText);
    const client = this.#client;
    await client.query("SAVEPOINT explained");
    this.plans.push(await this.#explain(text, values));
    await client.query("ROLLBACK TO explained");
    const { rows } = await client.query<object>({ text, values, types: pgTypes });
    return rows;
  }

  /** Carries a statement out as a connection has it planned, and tells how. */
  async #explain(text: string, values: readonly (string | Buffer | null)[]): Promise<PlanNode> {
    const client = this.#client;
    await client.query(`DEALLOCATE ALL; SET LOCAL plan_cache_mode = ${this.#planning}`);
    await client.query(`PREPARE explained AS ${text}`);
    const literals = values.map((value) =>
      value === null ? "NULL" : client.escapeLiteral(String(value)),
    );
    const { rows } = await client.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)
       EXECUTE explained ${literals.length === 0 ? "" : `(${literals.join()})`}`,
    );
    const plan = rows[0]?.["QUERY PLAN"][0]?.Plan;
    if (plan === undefined) throw new Error("a statement has a plan");
    return plan;
  }

  override transaction<Result>(work: (part: Connection) => Promise<Result>): Promise<Result> {
    return work(this);
  }
}

/**
 * What a statement cost: the rows that its steps had, those left out too, or the pages that it touched, whichever is
 * more. Of a small page looked up by key there are a few for each row; a table that is walked has all of its own.
 */
export function costOf(plan: PlanNode): number {
  return Math.max(rowsOf(plan), plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]);
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
