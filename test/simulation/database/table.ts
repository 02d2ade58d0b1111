// A table of the simulated database: versions of rows, found by the keys that its constraints have.
import type { RowLock, Version } from "./transactions.ts";

/** A primary key or another unique constraint, by its name in the schema. A key with a null in it is no key. */
export interface KeyConstraint<Row> {
  readonly name: string;
  readonly columns: readonly (keyof Row & string)[];
}

interface Index<Row> {
  readonly constraint: KeyConstraint<Row>;
  readonly versions: Map<string, Version<Row>[]>;
}

export class Table<Row extends object> {
  readonly #locks = new Map<string, RowLock>();
  readonly #indexes: readonly Index<Row>[];
  readonly #primary: Index<Row>;
  /** Whether each change of it is an act of administration. */
  isAdministration = false;

  /** The first constraint is the primary key. */
  constructor(primary: KeyConstraint<Row>, ...others: KeyConstraint<Row>[]) {
    this.#primary = { constraint: primary, versions: new Map() };
    this.#indexes = [
      this.#primary,
      ...others.map((constraint) => ({ constraint, versions: new Map<string, Version<Row>[]>() })),
    ];
  }

  /** What a row is found by: the members of the primary key. */
  keyOf(row: Partial<Row>): string {
    return keyText(this.#primary.constraint, row) ?? "";
  }

  /** The versions of the row with a primary key, oldest first. */
  versionsOf(key: string): readonly Version<Row>[] {
    return this.#primary.versions.get(key) ?? [];
  }

  /** The versions of rows with a key of one of the constraints, by its name, oldest first. */
  versionsWith(constraint: string, row: Partial<Row>): readonly Version<Row>[] {
    const index = this.#indexes.find((each) => each.constraint.name === constraint);
    if (index === undefined) throw new Error(`a table has no constraint ${constraint}`);
    const key = keyText(index.constraint, row);
    return key === null ? [] : (index.versions.get(key) ?? []);
  }

  /** All versions of all rows. */
  *allVersions(): Iterable<Version<Row>> {
    for (const versions of this.#primary.versions.values()) yield* versions;
  }

  /** By constraint, the versions that have the same key as a row. */
  *sameKeys(row: Row): Iterable<{ constraint: string; versions: readonly Version<Row>[] }> {
    for (const { constraint, versions } of this.#indexes) {
      const key = keyText(constraint, row);
      if (key !== null) yield { constraint: constraint.name, versions: versions.get(key) ?? [] };
    }
  }

  add(version: Version<Row>): void {
    for (const { constraint, versions } of this.#indexes) {
      const key = keyText(constraint, version.row);
      if (key === null) continue;
      const same = versions.get(key);
      if (same === undefined) versions.set(key, [version]);
      else same.push(version);
    }
  }

  lockOf(key: string): RowLock {
    let lock = this.#locks.get(key);
    if (lock === undefined) {
      lock = { holders: new Map() };
      this.#locks.set(key, lock);
    }
    return lock;
  }
}

function keyText<Row>({ columns }: KeyConstraint<Row>, row: Partial<Row>): string | null {
  let text = "";
  for (const column of columns) {
    const value = row[column];
    if (value === null || value === undefined) return null;
    // No key of a history has a NUL in it.
    text += `${String(value)}\0`;
  }
  return text;
}
