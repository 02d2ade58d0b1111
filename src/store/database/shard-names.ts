// The names that tables have on the one node of a Citus cluster that has a ledger: there each table is split into shards,
// which PostgreSQL reads and writes by itself.
import type { QueryText } from "./statement.ts";

/** What a statement names by these words in front is a table; what follows tells whether it has another name for it. */
const tableReference = /\b(FROM|JOIN|INTO|UPDATE)\s+(\w+)(\s+AS\b)?/g;

/** The tables of the ledgers of one shard, as they are called on the node that has it. */
export class ShardNames {
  readonly #names: ReadonlyMap<string, string>;
  readonly #suffix: string;
  /** By the text that is renamed. A program has a bounded number of them. */
  readonly #renamed = new Map<string, QueryText>();

  /** `suffix`: of the names under which a connection prepares statements on these tables. */
  constructor(names: ReadonlyMap<string, string>, suffix: string) {
    this.#names = names;
    this.#suffix = suffix;
  }

  /** A statement on the tables of these ledgers alone; columns are qualified in it as before. */
  rename(query: QueryText): QueryText {
    const made = this.#renamed.get(query.text);
    if (made !== undefined) return made;
    const text = query.text.replace(tableReference, (found, word: string, table: string, as) => {
      const name = this.#names.get(table);
      if (name === undefined) return found;
      return as === undefined ? `${word} ${name} AS ${table}` : `${word} ${name} AS`;
    });
    const renamed = { name: query.name === "" ? "" : `${query.name}_${this.#suffix}`, text };
    this.#renamed.set(query.text, renamed);
    return renamed;
  }
}
