// The sum of a table's rows, made while they pass by.
import { createHash } from "node:crypto";
import type { TableSum } from "./backup-format.ts";

const newline = 0x0a;

/** Counts and hashes rows in COPY's text format, where a row is a line. */
export class TableSumming {
  readonly #name: string;
  readonly #hash = createHash("sha256");
  rows = 0;

  constructor(name: string) {
    this.#name = name;
  }

  add(chunk: Buffer): void {
    this.#hash.update(chunk);
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
      this.rows += 1;
    }
  }

  /** To be called once. */
  sum(): TableSum {
    return { name: this.#name, rows: this.rows, sha256: this.#hash.digest("hex") };
  }
}
