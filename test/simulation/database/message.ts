// What a connection sends to its session, and what it is answered.
import type { DatabaseFault } from "./execution.ts";
import type { Parameters, Rows } from "./handler.ts";

export interface ReceivedStatement {
  readonly text: string;
  readonly parameters: Parameters;
}

export interface Result {
  readonly rows: Rows;
  readonly tag: string;
}

/** What statements with one Sync are answered: results of those that were carried out, and the error of the next. */
export interface Answer {
  readonly results: readonly Result[];
  readonly fault: DatabaseFault | null;
  /** Whether COMMIT came with a WARNING: its wait for the standby was cancelled. */
  readonly hasWarning: boolean;
}

/** Statements with one Sync. */
export interface Message {
  readonly statements: readonly ReceivedStatement[];
  readonly answer: (answer: Answer) => void;
}
