// What went wrong in the database, told apart by SQLSTATE and constraint name, never by the words of a message.
import { DatabaseError } from "pg";
import { messageOf } from "../../core/thrown.ts";

/** A row with the same unique key is there already. */
export class KeyConflict extends Error {
  constructor(constraint: string, cause: unknown) {
    super(`a row with the same key is there already (${constraint})`, { cause });
    this.name = "KeyConflict";
  }
}

/** Whether a COMMIT was not confirmed because its wait was cancelled. */
export function isCommitWarning(error: unknown): boolean {
  return error instanceof AmbiguousCommit && error.cause instanceof CommitWarning;
}

/** Hands on a reply; a violation of one unique key becomes KeyConflict. */
export async function withKeyConflict<Reply>(
  constraint: string,
  reply: Promise<Reply>,
): Promise<Reply> {
  try {
    return await reply;
  } catch (error) {
    const fault = databaseFault(error);
    if (fault?.code !== "23505" || !isAbout(fault, constraint)) throw error;
    throw new KeyConflict(constraint, error);
  }
}

/** A row is there and is not what its table has: somebody changed it, or it is of a newer version of the schema. */
export class UnreadableRow extends Error {
  /** `ledgerId`: of the ledger whose row it is, where that is known. */
  constructor(cause: unknown, ledgerId: string | null = null) {
    const row = ledgerId === null ? "a row" : `a row of ledger ${ledgerId}`;
    super(`${row} can't be read: ${messageOf(cause)}`, { cause });
    this.name = "UnreadableRow";
  }
}

/**
 * Whether a fault names a constraint. What Citus passes on from another node has the name in its message alone, in any
 * language, with the number of the table's part behind it.
 */
function isAbout(fault: DatabaseFault, constraint: string): boolean {
  if (fault.constraint !== undefined) return fault.constraint.replace(/_\d+$/, "") === constraint;
  return new RegExp(`\\b${constraint}(_\\d+)?\\b`).test(fault.message);
}

/** Somebody waits to change the ledger's state; a writer tries again when that is done. */
export class StateChangeRequested extends Error {
  constructor() {
    super("the ledger's state is about to change");
    this.name = "StateChangeRequested";
  }
}

/** The node that was written to has the ledger no more; a writer tries again where it is now. */
export class LedgerMoved extends Error {
  constructor() {
    super("the ledger has moved to another node");
    this.name = "LedgerMoved";
  }
}

/** COMMIT went through although something that belongs to it failed on our side: a bug, and not to be repeated. */
export class PartialCommit extends Error {
  constructor(cause: unknown) {
    super("a transaction was committed without all of its statements", { cause });
    this.name = "PartialCommit";
  }
}

/**
 * COMMIT was sent and not confirmed, because the connection was lost or the wait for a standby was cancelled: the
 * transaction may or may not have happened, and what is visible of it may not outlast a failover.
 */
export class AmbiguousCommit extends Error {
  constructor(cause: unknown) {
    super(`COMMIT was not confirmed: ${reasonOf(cause)}`, { cause });
    this.name = "AmbiguousCommit";
  }
}

/** The database committed, and warned that it did not wait for its standbys to the end. */
export class CommitWarning extends Error {
  constructor() {
    super("the database committed with a warning: its wait for a standby was cancelled");
    this.name = "CommitWarning";
  }
}

/** The error, or the nearest of those that caused it, that is of a class; null where none is. */
export function findCause<Found extends Error>(
  error: unknown,
  kind: abstract new (...parameters: never[]) => Found,
): Found | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof kind) return at;
  }
  return null;
}

interface DatabaseFault {
  readonly code: string;
  readonly constraint: string | undefined;
  readonly message: string;
}

/** What the database itself said, found in an error or in what caused it. */
function databaseFault(error: unknown): DatabaseFault | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof DatabaseError && at.code !== undefined) {
      const { code, constraint, message } = at;
      return { code, constraint, message };
    }
  }
  return null;
}

/** The SQLSTATE that the database gave; null where it gave none. */
export function sqlStateOf(error: unknown): string | null {
  return databaseFault(error)?.code ?? null;
}

/**
 * Whether an answer to COMMIT says for certain that the transaction was rolled back: classes 23 and 40, and a lock that
 * a deferred trigger did not get in time (55P03).
 */
export function isRolledBack(error: unknown): boolean {
  return /^(23|40|55P03)/.test(databaseFault(error)?.code ?? "");
}

/**
 * Whether another attempt may succeed: serialization failure, deadlock (class 40), a change of state that goes
 * first, a ledger that has moved, a lock not had in time (55P03), a COMMIT whose wait was cancelled (once it is known
 * what became of it), or the database being out of reach or resources.
 */
export function isTransient(error: unknown): boolean {
  const isPassing = error instanceof StateChangeRequested || error instanceof LedgerMoved;
  if (isPassing || isCommitWarning(error)) return true;
  const fault = databaseFault(error);
  return (fault !== null && /^(40|55P03)/.test(fault.code)) || isUnavailable(error);
}

/**
 * Whether the database is out of reach, shutting down, starting up, read-only, out of resources or did not answer
 * a statement in time (classes 08, 53, 57P and 58, 57014, or a connection that broke or could not be had, whatever
 * the database said), or the session is of no use any more.
 */
export function isUnavailable(error: unknown): boolean {
  if (isConnectionLost(error) || isSessionUseless(error)) return true;
  const fault = databaseFault(error);
  return fault !== null && /^(53|57014|58)/.test(fault.code);
}

/**
 * Whether a session has to be dropped although it still answers: its host takes no writes (25006), or a pooler has put
 * another backend behind it, which lacks the statements that were prepared in it (26000) or has them already (42P05).
 */
export function isSessionUseless(error: unknown): boolean {
  return /^(25006|26000|42P05)$/.test(databaseFault(error)?.code ?? "");
}

/** Whether an error means that the connection itself is gone (or never came about). */
export function isConnectionLost(error: unknown): boolean {
  if (findCause(error, ConnectionBroken) !== null) return true;
  return /^(08|57P)/.test(databaseFault(error)?.code ?? "");
}

/**
 * Whether the database could not reach another node that it needs (class 08, which it gives over a connection that
 * holds). A pooler that lost the database says the same, and ends the connection.
 */
export function isNodeLost(error: unknown): boolean {
  return (
    findCause(error, ConnectionBroken) === null && /^08/.test(databaseFault(error)?.code ?? "")
  );
}

/**
 * Whether the database is in trouble that a person has to look at: out of resources (53), the system (58), corruption
 * or a bug (XX), the role's login is refused (28), or there is no database of this name (3D).
 */
export function isDatabaseTrouble(error: unknown): boolean {
  return /^(28|3D|53|58|XX)/.test(databaseFault(error)?.code ?? "");
}

/** Whether a database that was asked for a connection answered, other than that it is starting or stopping (57P). */
export function isServerAnswer(error: unknown): boolean {
  const fault = databaseFault(error);
  return fault !== null && !fault.code.startsWith("57P");
}

/** Whether the database refused a row for its data: a value that a column can't hold (22), or a constraint (23). */
export function isRowRefused(error: unknown): boolean {
  return /^2[23]/.test(databaseFault(error)?.code ?? "");
}

/** Whether the database refused a statement over a connection that holds: its transaction is undone. */
export function isStatementRefused(error: unknown): boolean {
  return databaseFault(error) !== null && !isConnectionLost(error);
}

/** In place of the driver's own errors: a connection that ended, or that could not be had in time. */
export class ConnectionBroken extends Error {
  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
    this.name = "ConnectionBroken";
  }
}

/** A host that was connected to takes no writes, because it follows another one. */
export class StandbyHost extends Error {
  constructor() {
    super("it is a standby, and takes no writes");
    this.name = "StandbyHost";
  }
}

/** No session came about on one host of a database. */
export class HostFailure extends ConnectionBroken {
  /** The name of the host. */
  readonly host: string;

  /** `isNamed`: whether the message says which host it was; it need not where there is one. */
  constructor(host: string, isNamed: boolean, cause: unknown) {
    super(cause);
    this.name = "HostFailure";
    this.host = host;
    if (isNamed) this.message = `${host}: ${this.message}`;
  }
}

/** Several addresses that were tried in vain give one error that says nothing itself. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === "") {
    return cause.errors.map(reasonOf).join("; ");
  }
  return messageOf(cause);
}

/**
 * For what a connection threw, and only there: a network's code such as ECONNRESET says nothing about the
 * database anywhere else. Whatever the database did not say itself is a connection that broke, but for rows that came and
 * can't be read.
 */
export function asConnectionError(error: unknown): Error {
  const kinds = [DatabaseError, ConnectionBroken, UnreadableRow];
  const isKnown = error instanceof Error && kinds.some((kind) => error instanceof kind);
  return isKnown ? error : new ConnectionBroken(error);
}
