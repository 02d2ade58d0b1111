// The one catalog of refusals: code, status, title. What is refused is thrown as a Refusal;
// a bug is any other error. Nothing here knows HTTP beyond the numbers of its statuses.

interface ProblemKind {
  readonly status: number;
  /** Machine-readable code of the wire; null where the API defines none. */
  readonly code: string | null;
  readonly title: string;
}

/**
 * Every refusal there is, in the order of precedence: when several apply to a request,
 * the first of them is answered.
 */
export const problemKinds = {
  unknownPath: { status: 404, code: null, title: "Not found" },
  methodNotAllowed: { status: 405, code: null, title: "Method not allowed" },
  bodyTooLarge: { status: 413, code: null, title: "Body too large" },
  unauthorized: { status: 401, code: null, title: "Unauthorized" },
  rateLimited: { status: 429, code: null, title: "Too many requests" },
  ledgerNotFound: { status: 404, code: null, title: "Ledger not found" },
  insufficientScope: { status: 403, code: "INSUFFICIENT_SCOPE", title: "Insufficient scope" },
  unsupportedMediaType: { status: 415, code: null, title: "Unsupported media type" },
  validation: { status: 400, code: "VALIDATION_ERROR", title: "Validation failed" },
  duplicateEntry: { status: 409, code: "DUPLICATE_ENTRY", title: "Duplicate entry" },
  partlyDuplicate: { status: 409, code: null, title: "Some are duplicates" },
  alreadyReversed: { status: 409, code: "ALREADY_REVERSED", title: "Already reversed" },
  ledgerSuspended: { status: 403, code: "LEDGER_SUSPENDED", title: "Ledger suspended" },
  ledgerClosed: { status: 403, code: "LEDGER_CLOSED", title: "Ledger closed" },
  walletFrozen: { status: 403, code: "WALLET_FROZEN", title: "Wallet frozen" },
  entryNotFound: { status: 404, code: "ENTRY_NOT_FOUND", title: "Entry not found" },
  closeNotFound: { status: 404, code: "CLOSE_NOT_FOUND", title: "Close not found" },
  checkpointNotFound: {
    status: 404,
    code: "CHECKPOINT_NOT_FOUND",
    title: "Checkpoint not found",
  },
  accountNotFound: { status: 404, code: "ACCOUNT_NOT_FOUND", title: "Account not found" },
  accountInUse: { status: 409, code: "ACCOUNT_IN_USE", title: "Account in use" },
  deliveryNotFound: { status: 404, code: "DELIVERY_NOT_FOUND", title: "Delivery not found" },
  reversalNotReversible: {
    status: 409,
    code: "REVERSAL_NOT_REVERSIBLE",
    title: "Reversal not reversible",
  },
  walletBatchNotReversible: {
    status: 409,
    code: "WALLET_BATCH_NOT_REVERSIBLE",
    title: "Wallet batch not reversible",
  },
  periodClosed: { status: 409, code: "PERIOD_CLOSED", title: "Period closed" },
  periodOutOfOrder: { status: 409, code: "PERIOD_OUT_OF_ORDER", title: "Period out of order" },
  notLoggedYet: { status: 409, code: "NOT_LOGGED_YET", title: "Not logged yet" },
  walletNotFound: { status: 404, code: null, title: "Wallet not found" },
  holdNotFound: { status: 404, code: null, title: "Hold not found" },
  holdResolved: { status: 409, code: null, title: "Hold already resolved" },
  insufficientFunds: {
    status: 422,
    code: "INSUFFICIENT_FUNDS",
    title: "Insufficient funds",
  },
  limitExceeded: { status: 422, code: null, title: "Limit exceeded" },
  upgradeRequired: { status: 426, code: null, title: "Upgrade required" },
  unavailable: { status: 503, code: "UNAVAILABLE", title: "Service unavailable" },
  outcomeUnknown: { status: 503, code: "OUTCOME_UNKNOWN", title: "Outcome unknown" },
  internal: { status: 500, code: null, title: "Internal server error" },
} as const satisfies Record<string, ProblemKind>;

export type ProblemName = keyof typeof problemKinds;

/** One thing wrong with the input: a place in the body (path) or a query parameter, and what is wrong there. */
export type Fault =
  | { readonly path: readonly (string | number)[]; readonly detail: string }
  | { readonly parameter: string; readonly detail: string };

/** Extension members of a problem (RFC 9457, section 3.2), such as the journalId of the entry that came first. */
export type RefusalMembers = Readonly<Record<string, string>>;

/** A refusal, for a reason from the catalog. */
export class Refusal extends Error {
  readonly problem: ProblemName;
  readonly faults: readonly Fault[];
  readonly members: RefusalMembers;
  /** After how long it is worth trying again, where that is known. */
  readonly retryAfterSeconds: number | null;

  constructor(
    problem: ProblemName,
    detail: string,
    more: {
      faults?: readonly Fault[];
      members?: RefusalMembers;
      cause?: unknown;
      retryAfterSeconds?: number;
    } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "Refusal";
    this.problem = problem;
    this.faults = more.faults ?? [];
    this.members = more.members ?? {};
    this.retryAfterSeconds = more.retryAfterSeconds ?? null;
  }

  get status(): number {
    return problemKinds[this.problem].status;
  }

  get code(): string | null {
    return problemKinds[this.problem].code;
  }
}

/** The most faults that are reported: each has its whole place, so a small body could make a large answer. */
export const faultsMax = 100;

/** The refusal of bad input: every fault that was found, at once. */
export function validationRefusal(faults: readonly Fault[]): Refusal {
  const first = faults[0];
  const detail =
    faults.length === 1 && first !== undefined
      ? first.detail
      : `${faults.length} things are wrong with the request; see errors`;
  return new Refusal("validation", detail, { faults: faults.slice(0, faultsMax) });
}

const overloaded = "overloaded";

/** The refusal of what would be too much at the moment: nothing was done. */
export function overloadRefusal(detail: string): Refusal {
  return new Refusal("unavailable", detail, { cause: overloaded });
}

/** Whether something was rejected only because there was too much of it. */
export function isOverload(refusal: Refusal | undefined): boolean {
  return refusal?.cause === overloaded;
}

/** The refusal with the paths of its faults below another path: of an entry, say, as one of a bulk. */
export function refusalBelow(
  path: readonly (string | number)[],
  refusal: Refusal,
  faults: readonly Fault[] = refusal.faults,
): Refusal {
  return new Refusal(refusal.problem, refusal.message, {
    faults: faults.map((fault) =>
      "path" in fault ? { ...fault, path: [...path, ...fault.path] } : fault,
    ),
    members: refusal.members,
    cause: refusal.cause,
  });
}

const pointerPartMax = 256;
const pointerCharactersMax = 1024;

/**
 * A JSON Pointer in its URI fragment form (RFC 6901, sections 3 and 6): `#/lines/1/functionalAmount`.
 * The empty path is the whole document, `#`. A place under an absurdly long name, or under very many
 * names, is shortened to the object that contains it.
 */
export function jsonPointer(path: readonly (string | number)[]): string {
  let characters = 0;
  const tooLong = path.findIndex((part) => {
    const { length } = String(part);
    characters += length;
    return length > pointerPartMax || characters > pointerCharactersMax;
  });
  const shown = tooLong < 0 ? path : path.slice(0, tooLong);
  return `#${shown
    .map(
      (part) =>
        // A member's name may hold a lone surrogate; a URI can't.
        `/${encodeURI(String(part).toWellFormed())
          .replace(/~/g, "~0")
          .replace(/\//g, "~1")
          .replace(/#/g, "%23")
          .replace(/\?/g, "%3F")}`,
    )
    .join("")}`;
}

/** An assertion about our own code, checked in production too: a false one is a bug. */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${what}`);
}
