// The simulated database does what PostgreSQL does: histories of the store's functions on three sessions, step by step on
// both, with the same rows, the same errors, and the same sessions that wait for each other.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SeededRandom } from "../../src/seed/seeded-random.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { Domain, ledgerIdsOf } from "./equality/domain.ts";
import { changes, locks, reads, type Operation } from "./equality/operations.ts";
import { PostgresDatabase } from "./equality/postgres-side.ts";
import type { Action, Side } from "./equality/side.ts";
import { openSimulatedSide } from "./equality/simulated-side.ts";

const sessions = 3;
const histories = 60;
const stepsPerHistory = 24;

let database: TestDatabase;
let postgres: PostgresDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  postgres = new PostgresDatabase(database.url);
  await postgres.open(sessions);
});

afterAll(async () => {
  await postgres.end();
  await database.drop();
});

/** Whom each session waits for, and which of them are in a transaction. */
class History {
  readonly told: string[] = [];
  readonly #waits = new Map<number, readonly number[]>();
  readonly #open = new Set<number>();
  readonly #domain: Domain;
  readonly #sides: readonly Side[];
  /** A few of all, so that they meet. */
  readonly #changes: Readonly<Record<string, Operation>>;

  constructor(domain: Domain, sides: readonly Side[]) {
    this.#domain = domain;
    this.#sides = sides;
    const all = Object.entries(changes);
    const first = domain.random.below(all.length);
    this.#changes = Object.fromEntries([...all, ...all].slice(first, first + 5));
  }

  async run(): Promise<void> {
    for (let step = 0; step < stepsPerHistory; step += 1) await this.#step();
    while (this.#open.size > 0) await this.#end();
    // That the same is marked twice is rare by chance.
    const { insertPendingPostings, markPosted } = changes;
    for (const operation of [insertPendingPostings, markPosted, markPosted]) {
      if (operation === undefined) throw new Error("an operation is missing");
      await this.#take(0, { name: "last", call: operation(this.#domain) });
    }
    for (const [name, operation] of Object.entries(reads)) {
      await this.#take(0, { name, call: operation(this.#domain) });
    }
  }

  async #step(): Promise<void> {
    const { random } = this.#domain;
    // Those that wait are waited for: two that waited for each other would be a deadlock.
    if (this.#waits.size > 0) {
      await this.#end();
      return;
    }
    const session = random.below(sessions);
    if (!this.#open.has(session) && random.happens(85)) {
      this.#open.add(session);
      await this.#take(session, "begin");
    } else if (this.#open.has(session) && random.happens(12)) await this.#end(session);
    else await this.#take(session, this.#operation());
  }

  #operation(): Action {
    const { random } = this.#domain;
    const kind = random.pick([this.#changes, this.#changes, this.#changes, locks, reads]);
    const [name, operation] = random.pick(Object.entries(kind));
    return { name, call: operation(this.#domain) };
  }

  /** Ends a transaction; one that others wait for first. */
  async #end(session = this.#whoIsWaitedFor()): Promise<void> {
    this.#open.delete(session);
    await this.#take(session, this.#domain.random.happens(70) ? "commit" : "rollback");
    const released = [...this.#waits].filter(([, blockers]) => blockers.includes(session));
    for (const [waiting] of released) {
      this.#waits.delete(waiting);
      this.#note(
        waiting,
        "goes on",
        await Promise.all(this.#sides.map((side) => side.waited(waiting))),
      );
    }
  }

  #whoIsWaitedFor(): number {
    const [blockers] = this.#waits.values();
    const waited = blockers?.find((session) => !this.#waits.has(session));
    const [open] = this.#open;
    return waited ?? open ?? 0;
  }

  async #take(session: number, action: Action): Promise<void> {
    const name = typeof action === "object" ? action.name : action;
    const given = await Promise.all(this.#sides.map((side) => side.step(session, action)));
    this.#note(session, name, given);
  }

  #note(session: number, name: string, [real = "", simulated = ""]: readonly string[]): void {
    this.told.push(`${session} ${name}: ${real}`);
    const blockers = blockersIn(real);
    const possible = blockersIn(simulated);
    // PostgreSQL waits for those who share a row one after the other, and names the one whose turn it is.
    const isOneOfThem = blockers?.every((each) => possible?.includes(each)) ?? false;
    if (!isOneOfThem) expect(simulated, this.told.join("\n")).toBe(real);
    if (blockers !== null) this.#waits.set(session, blockers);
  }
}

/** The sessions that an answer says it waits for; null for any other answer. */
function blockersIn(answer: string): readonly number[] | null {
  const named = /^waits for (.*)/.exec(answer)?.[1];
  return named?.split(", ").map(Number) ?? null;
}

describe("the simulated database", () => {
  it("gives the rows, errors and waits of PostgreSQL, whatever is done on several sessions", async () => {
    const told: string[] = [];
    for (let number = 1; number <= histories; number += 1) {
      const ledgerIds = ledgerIdsOf(number);
      const seed = `statements ${number}`;
      const domain = new Domain(new SeededRandom(seed), ledgerIds);
      const sides = [
        await postgres.openSide(ledgerIds),
        openSimulatedSide(seed, ledgerIds, sessions),
      ];
      const history = new History(domain, sides);
      await history.run();
      told.push(...history.told);
    }
    // What is compared has to come about.
    for (const what of ["waits for", "KeyConflict 23505", "23001", "25P02", "goes on: fails"]) {
      expect(told.filter((line) => line.includes(what)).length, what).toBeGreaterThan(1);
    }
  });
});
