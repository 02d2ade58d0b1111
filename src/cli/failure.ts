// Exit codes, and which failure ends with which. The numbers are a promise to scripts.
import { certificateFault } from "../core/certificate-fault.ts";
import { Refusal } from "../core/errors.ts";
import { ServiceProblem, ServiceUnreachable } from "../client/errors.ts";
import { SettingError } from "../config.ts";
import { errorCode } from "../core/thrown.ts";
import { DatabaseUnavailable } from "../store/database-unavailable.ts";
import { foldRemark } from "./terminal/fold-lines.ts";
import { printable, printableJson, printableLines } from "./terminal/printable.ts";
import { shownText, styled } from "./terminal/styles.ts";

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  verificationFailed: 3,
  notPermitted: 4,
  notFound: 5,
  conflict: 6,
  unavailable: 7,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A command ends with a message for its user: what happened, why, and what to do. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode, cause?: unknown) {
    super(message, { cause });
    this.name = "CommandFailure";
    this.exitCode = exitCode;
  }
}

/** A failure with something to add that only the command knows: a line such as `Did you mean 1000?`. */
export class HintedFailure extends Error {
  readonly hint: string;

  constructor(cause: unknown, hint: string) {
    super(hint, { cause });
    this.name = "HintedFailure";
    this.hint = hint;
  }
}

/** The command was called wrongly: exit code 2. */
export function usageFailure(message: string): CommandFailure {
  return new CommandFailure(message, exitCodes.usage);
}

/** What the command is about is not there: exit code 5. */
export function notFoundFailure(message: string): CommandFailure {
  return new CommandFailure(message, exitCodes.notFound);
}

/**
 * What is wrong, and where. What the service says of many faults is about its JSON; here each has a line. One that
 * `must be` something else is a sentence about its place.
 */
function faultLines(problem: ServiceProblem): string[] {
  const { errors = [] } = problem.problem;
  const [only, ...more] = errors;
  const message = printable(problem.message);
  if (only === undefined) return [message];
  if (more.length > 0) {
    const lines = errors.map((fault) => `${place(fault)}: ${printable(fault.detail)}`);
    return [`${errors.length} things are wrong with the request:`, ...lines];
  }
  const field = place(only).replace(/^#\//, "");
  return message.startsWith("must ") ? [`${field} ${message}`] : [message, `at ${place(only)}`];
}

/** The exit code of anything that a command may throw. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandFailure) return error.exitCode;
  if (error instanceof HintedFailure) return exitCodeOf(error.cause);
  if (error instanceof SettingError) return exitCodes.usage;
  if (error instanceof ServiceProblem) return exitCodeOfProblem(error.status, error.code);
  if (error instanceof Refusal) return exitCodeOfProblem(error.status, error.code);
  if (error instanceof ServiceUnreachable) return exitCodes.unavailable;
  if (error instanceof DatabaseUnavailable) return exitCodes.unavailable;
  return exitCodes.failed;
}

/** The exit code of an answer of the service. */
export function exitCodeOfProblem(status: number, code: string | null): ExitCode {
  if (code === "LEDGER_SUSPENDED" || code === "LEDGER_CLOSED" || code === "WALLET_FROZEN") {
    return exitCodes.conflict;
  }
  return exitCodeOfStatus[status] ?? exitCodes.failed;
}

const exitCodeOfStatus: Readonly<Partial<Record<number, ExitCode>>> = {
  400: exitCodes.usage,
  401: exitCodes.notPermitted,
  403: exitCodes.notPermitted,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  413: exitCodes.usage,
  415: exitCodes.usage,
  422: exitCodes.conflict,
  429: exitCodes.unavailable,
  502: exitCodes.unavailable,
  503: exitCodes.unavailable,
  504: exitCodes.unavailable,
};

/**
 * One message for the user: no stack, no control characters, faults of the input each on a line, the request id
 * at the end.
 */
export function describeFailure(error: unknown): string {
  return printableLines(failureLines(error).join("\n"));
}

/** A failure as `--json` has it on stderr; what is not known is null. */
export interface FailureDocument {
  readonly error: {
    /** From the catalog of errors. */
    readonly code: string | null;
    /** What people are told, several lines where it has several, without the request id. */
    readonly message: string;
    readonly exit: ExitCode;
    /** The HTTP status of the service's answer. */
    readonly status: number | null;
    readonly requestId: string | null;
  };
}

export function failureDocument(error: unknown): FailureDocument {
  const cause = error instanceof HintedFailure ? error.cause : error;
  const problem = cause instanceof ServiceProblem ? cause : null;
  const refusal = cause instanceof Refusal ? cause : null;
  const message = explanationOf(error).join("\n");
  return {
    error: {
      code: problem?.code ?? refusal?.code ?? null,
      message,
      exit: exitCodeOf(error),
      status: problem?.status ?? null,
      requestId: problem?.requestId ?? null,
    },
  };
}

/**
 * What is written to stderr about a failure: a message for people, which begins in red where it has colours, or with
 * `--json` one object on one line.
 */
export function failureText(error: unknown, isJson: boolean, isColored = false): string {
  if (!isJson) return `${withColoredHead(foldRemark(describeFailure(error)), isColored)}\n`;
  return `${printableJson(JSON.stringify(failureDocument(error)))}\n`;
}

/** A message of ours with what it begins with in red, where it has colours. */
export function withColoredHead(message: string, isColored: boolean): string {
  if (!isColored || !message.startsWith(failureHead)) return message;
  return shownText(styled(failureHead, "bad"), true) + message.slice(failureHead.length);
}

const failureHead = "ledgerctl:";

function failureLines(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  const [head = "", ...more] = explanationOf(error);
  const lines = [`${failureHead} ${head}`, ...more.map((line) => `  ${line}`)];
  const problem = error instanceof HintedFailure ? error.cause : error;
  if (problem instanceof ServiceProblem) {
    const { status, code, requestId } = problem;
    const answer = `${status}${code === null ? "" : ` ${code}`}`;
    lines.push(`  ${printable(`(${answer}, request ${requestId ?? "unknown"})`)}`);
  }
  return lines;
}

/** What happened, and below it each fault and what to do. */
function explanationOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  if (error instanceof HintedFailure) {
    return [...explanationOf(error.cause), printable(error.hint)];
  }
  const isProblem = error instanceof ServiceProblem;
  // What the service says is about texts of others: they must not make lines of their own.
  const lines = isProblem ? faultLines(error) : [error.message];
  if (isProblem) {
    const { journalId, reversalJournalId } = error.problem;
    if (journalId !== undefined) lines.push(`the first is entry ${printable(journalId)}`);
    if (reversalJournalId !== undefined)
      lines.push(`the reversal is entry ${printable(reversalJournalId)}`);
    const hint = hintOf(error);
    if (hint !== null) lines.push(hint);
  }
  if (error instanceof ServiceUnreachable) lines.push(unreachableHint(error));
  return lines;
}

function place(fault: { pointer?: string; parameter?: string }): string {
  return printable(fault.pointer ?? fault.parameter ?? "");
}

/** For who has the sequence number of an entry, or the beginning of its id. */
export const entryIdHint =
  "An entry is named by its whole id, not by its sequence number: `ledgerctl entry list` shows both.";

function hintOf(error: ServiceProblem): string | null {
  if (error.status === 401) {
    return (
      "Check the API key, its secret and this machine's clock: `ledgerctl doctor` compares the clocks, and " +
      "`ledgerctl key list`, where the database is, shows whether the key is live."
    );
  }
  if (error.code === "ENTRY_NOT_FOUND") return entryIdHint;
  if (error.code === "INSUFFICIENT_SCOPE") {
    return "Use a key with that scope: `ledgerctl key create --org ID --scope …` makes one; without --scope it has all but admin.";
  }
  if (error.status === 429 && error.retryAfterSeconds !== null) {
    return `Try again in ${error.retryAfterSeconds} s: the server limits the requests of each API key.`;
  }
  if (error.code === "OUTCOME_UNKNOWN") {
    return (
      "With the same externalId you can send it again: it is written once. " +
      "Without one, look first whether it is there."
    );
  }
  if (error.code === "PERIOD_CLOSED") {
    return (
      "`ledgerctl period list` shows what is closed. A mistake in a closed period is put right in an open one: " +
      "`ledgerctl entry correct ID`."
    );
  }
  if (error.status === 503 || error.status === 429) return "Try again in a moment.";
  return null;
}

/** What to do where there was no answer. */
export function unreachableHint({ cause }: ServiceUnreachable): string {
  switch (certificateFault(cause)) {
    case null:
      return isPlainPort(cause)
        ? "The server does not speak TLS there: begin --url with http://, or start it with --tls-cert and --tls-key."
        : "Is the server running? Start it with `ledgerctl serve`, or set --url.";
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return "Renew the server's certificate and send the server SIGHUP; or set this machine's clock.";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
    case "HOSTNAME_MISMATCH":
      return "Set --url with a name that the server's certificate is for.";
    default:
      return (
        "This machine does not know the authority that signed the server's certificate: set NODE_EXTRA_CA_CERTS to a " +
        "file with the authority's certificate (PEM)."
      );
  }
}

/** Whether what answered a TLS handshake was no TLS. */
function isPlainPort(error: unknown): boolean {
  return /^(ERR_SSL_|EPROTO$)/.test(errorCode(error) ?? "");
}
