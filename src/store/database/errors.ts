// What went wrong in the database, told apart by SQLSTATE and constraint name, never by message.
import { DatabaseError } from "pg";
import { messageOf } from "../../core/thrown.ts";

/** A row with the same unique key is there already. */
export class KeyConflict extends Error {
  constructor(constraint: string, cause: unknown) {
    super(`a row with the same key is there already (${constraint})`, { cause });
    this.name = "KeyConflict";
  }
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
    if (fault?.code !== "23505" || fault.constraint !== constraint) throw error;
    throw new KeyConflict(constraint, error);
  }
}

/** Somebody waits to change the ledger's state; a writer tries again when that is done. */
export class StateChangeRequested extends Error {
  constructor() {
    super("the ledger's state is about to change");
    this.name = "StateChangeRequested";
  }
}

/** COMMIT went through although something that belongs to it failed on our side: a bug, and not to be repeated. */
export class PartialCommit extends Error {
  constructor(cause: unknown) {
    super("a transaction was committed without all of its statements", { cause });
    this.name = "PartialCommit";
  }
}

/** The connection was lost after COMMIT was sent: the transaction may or may not have happened. */
export class AmbiguousCommit extends Error {
  constructor(cause: unknown) {
    super("the connection was lost before COMMIT was answered", { cause });
    this.name = "AmbiguousCommit";
  }
}

/** What the database itself said, found in an error or in what caused it. */
function databaseFault(
  error: unknown,
): { readonly code: string; readonly constraint: string | undefined } | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof DatabaseError && at.code !== undefined)
      return { code: at.code, constraint: at.constraint };
  }
  return null;
}

/** Whether an answer to COMMIT says for certain that the transaction was rolled back (classes 23 and 40). */
export function isRolledBack(error: unknown): boolean {
  return /^(23|40)/.test(databaseFault(error)?.code ?? "");
}

/**
 * Whether the same transaction may succeed if it is simply tried again: serialization failure,
 * deadlock (class 40), a change of state that goes first, a lock not had in time (55P03), or the database
 * being out of reach or resources.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof StateChangeRequested) return true;
  const fault = databaseFault(error);
  return (fault !== null && /^(40|55P03)/.test(fault.code)) || isUnavailable(error);
}

/**
 * Whether the database is out of reach, shutting down, starting up, out of resources or did not answer
 * a statement in time (classes 08, 53, 57P and 58, 57014, or a connection that broke without an SQLSTATE).
 */
export function isUnavailable(error: unknown): boolean {
  const fault = databaseFault(error);
  if (fault !== null) return /^(08|53|57014|57P|58|25006)/.test(fault.code);
  return isConnectionLost(error);
}

/** Whether an error means that the connection itself is gone (or never came about). */
export function isConnectionLost(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof ConnectionBroken) return true;
  }
  return /^(08|57P)/.test(databaseFault(error)?.code ?? "");
}

/** Whether the database is in trouble of its own: out of resources (53), the system (58), corruption or a bug (XX). */
export function isDatabaseTrouble(error: unknown): boolean {
  return /^(53|58|XX)/.test(databaseFault(error)?.code ?? "");
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

/** Several addresses that were tried in vain give one error that says nothing itself. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === "") {
    return cause.errors.map(reasonOf).join("; ");
  }
  return messageOf(cause);
}

/**
 * For what a connection threw, and only there: a network's code such as ECONNRESET says nothing about the
 * database anywhere else. Whatever the database did not say itself is a connection that broke.
 */
export function asConnectionError(error: unknown): Error {
  return error instanceof DatabaseError ? error : new ConnectionBroken(error);
}
