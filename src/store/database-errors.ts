// What went wrong in the database, told apart by SQLSTATE and constraint name, never by message.

/** A unique key is taken; `constraint` says which. */
export class KeyTaken extends Error {
  readonly constraint: string;

  constructor(constraint: string, cause: unknown) {
    super(`a key of ${constraint} is taken`, { cause });
    this.name = "KeyTaken";
    this.constraint = constraint;
  }
}

/** Hands on a reply; a violation of one unique key becomes KeyTaken. */
export async function namingTakenKey<Reply>(
  constraint: string,
  reply: Promise<Reply>,
): Promise<Reply> {
  try {
    return await reply;
  } catch (error) {
    if (violatedKey(error) === constraint) throw new KeyTaken(constraint, error);
    throw error;
  }
}

/** Somebody waits to change the ledger's state; a writer tries again when that is done. */
export class StateChangeAsked extends Error {
  constructor() {
    super("the ledger's state is about to change");
    this.name = "StateChangeAsked";
  }
}

/** COMMIT went through although something that belongs to it failed on our side: a bug, and not to be repeated. */
export class RecordedInPart extends Error {
  constructor(cause: unknown) {
    super("a transaction was committed without all of its statements", { cause });
    this.name = "RecordedInPart";
  }
}

/** The connection was lost after COMMIT was sent: the transaction may or may not have happened. */
export class CommitAnswerLost extends Error {
  constructor(cause: unknown) {
    super("the connection was lost before COMMIT was answered", { cause });
    this.name = "CommitAnswerLost";
  }
}

interface DatabaseFault {
  readonly code: string;
  readonly constraint?: string;
}

function databaseFault(error: unknown): DatabaseFault | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string" && isSqlState(at.code)) {
      return at as unknown as DatabaseFault;
    }
  }
  return null;
}

/** EPIPE has five letters as well. */
function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !connectionErrors.has(code);
}

/** The name of the unique constraint that an error is about, or null when it is about something else. */
export function violatedKey(error: unknown): string | null {
  const fault = databaseFault(error);
  return fault?.code === "23505" ? (fault.constraint ?? null) : null;
}

/** Whether an answer to COMMIT says for certain that the transaction was rolled back (classes 23 and 40). */
export function isRolledBack(error: unknown): boolean {
  return /^(23|40)/.test(databaseFault(error)?.code ?? "");
}

/**
 * Whether the same transaction may succeed if it is simply tried again: serialization failure,
 * deadlock (class 40), a change of state that goes first, a lock not had in time (55P03), or the database being out of reach or resources.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof StateChangeAsked) return true;
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

const connectionErrors = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EACCES",
]);

/** Whether an error means that the connection itself is gone (or never came about). */
export function isConnectionLost(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") {
      if (connectionErrors.has(at.code)) return true;
      if (/^(08|57P)/.test(at.code)) return true;
    }
    if (at instanceof ConnectionBroken) return true;
  }
  return false;
}

/** In place of the driver's plain errors: a connection that ended, or that could not be had in time. */
export class ConnectionBroken extends Error {
  constructor(cause: unknown) {
    super("the connection to the database broke", { cause });
    this.name = "ConnectionBroken";
  }
}

/** The driver reports a broken connection, and a pool that gave none in time, as errors without a code. */
export function asConnectionError(error: unknown): Error {
  if (!(error instanceof Error)) return new ConnectionBroken(error);
  return "code" in error ? error : new ConnectionBroken(error);
}
