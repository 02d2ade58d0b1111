// One of the two databases that are compared: some sessions, and what becomes of each step on them.
import { DatabaseError } from "pg";
import type { Connection } from "../../../src/store/database/connection.ts";
import { readClock } from "../../../src/store/journal-heads.ts";
import type { PipelinedConnection, Transaction } from "../../../src/store/database/pipeline.ts";
import type { Call } from "./operations.ts";

export type Action =
  "begin" | "commit" | "rollback" | { readonly name: string; readonly call: Call };

/** How a database shows whether a step waits. */
export interface Watch {
  /** Resolves when a step has settled, or waits: with the sessions that it waits for. */
  settleOrWait(session: number, isSettled: () => boolean): Promise<readonly number[]>;
}

export class Side {
  readonly #connections: readonly PipelinedConnection[];
  readonly #watch: Watch;
  readonly #transactions = new Map<number, Transaction>();
  readonly #waiting = new Map<number, Promise<string>>();

  constructor(connections: readonly PipelinedConnection[], watch: Watch) {
    this.#connections = connections;
    this.#watch = watch;
  }

  /** Takes a step; resolves with what it gave, or with whom it waits for. */
  async step(session: number, action: Action): Promise<string> {
    let isSettled = false;
    const outcome = this.#perform(session, action).then(shownRows, shownError);
    void outcome.then(() => {
      isSettled = true;
    });
    const blockers = await this.#watch.settleOrWait(session, () => isSettled);
    if (blockers.length === 0) return outcome;
    this.#waiting.set(session, outcome);
    return `waits for ${blockers.join(", ")}`;
  }

  /** What a step gave that had to wait: what it waited for has ended. */
  async waited(session: number): Promise<string> {
    const outcome = this.#waiting.get(session);
    this.#waiting.delete(session);
    if (outcome === undefined) throw new Error("a session waits");
    let isSettled = false;
    void outcome.then(() => {
      isSettled = true;
    });
    const blockers = await this.#watch.settleOrWait(session, () => isSettled);
    if (blockers.length === 0) return outcome;
    this.#waiting.set(session, outcome);
    return `waits for ${blockers.join(", ")}`;
  }

  async #perform(session: number, action: Action): Promise<unknown> {
    const connection = this.#connections[session];
    if (connection === undefined) throw new Error("a session has a connection");
    if (action === "begin") {
      this.#transactions.set(session, connection.begin());
      return null;
    }
    const transaction = this.#transactions.get(session);
    if (typeof action === "object") return carryOut(transaction ?? connection, action.call);
    if (transaction === undefined) throw new Error("a transaction was begun");
    this.#transactions.delete(session);
    return action === "commit" ? transaction.commit([]) : transaction.rollBack();
  }
}

/** PostgreSQL tells of an error before it has given up the transaction's locks; what comes next is carried out behind that. */
async function carryOut(connection: Connection, call: Call): Promise<unknown> {
  try {
    return await call(connection);
  } catch (error) {
    await readClock(connection).catch(() => undefined);
    throw error;
  }
}

/** Rows as text; in an order of their own, since most statements promise none. */
function shownRows(rows: unknown): string {
  const plain: unknown = rows instanceof Map ? [...(rows as Map<string, unknown>)] : rows;
  if (!Array.isArray(plain)) return shown(plain);
  return plain.map(shown).sort().join("\n");
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === "bigint") return `${member}n`;
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(
      Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)),
    );
  });
}

function shownError(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof DatabaseError) {
      const name = error instanceof Error ? error.name : "";
      return `fails: ${name} ${at.code ?? ""} ${at.constraint ?? ""}`.trim();
    }
  }
  return `fails: ${String(error)}`;
}
