// What a check of `doctor` found: that all is well, something to know, or a failure with what to do.
import { exitCodes, type ExitCode } from "../../failure.ts";

export interface Check {
  readonly name:
    | "configuration"
    | "connection"
    | "clock"
    | "readiness"
    | "replica"
    | "credentials"
    | "ledger"
    | "currencies"
    | "logs"
    | "deliveries"
    | "database"
    | "migrations"
    | "postings"
    | "backup";
  readonly ok: boolean;
  /** Whether there is something to know that is no failure; `ok` is true. */
  readonly note: boolean;
  readonly detail: string;
  /** What to do; null where nothing needs doing. */
  readonly remedy: string | null;
  readonly exitCode: ExitCode;
}

export function passed(name: Check["name"], detail: string): Check {
  return { name, ok: true, note: false, detail, remedy: null, exitCode: exitCodes.done };
}

export function noted(name: Check["name"], detail: string): Check {
  return { ...passed(name, detail), note: true };
}

export function failed(
  name: Check["name"],
  detail: string,
  remedy: string,
  exitCode: ExitCode = exitCodes.failed,
): Check {
  return { name, ok: false, note: false, detail, remedy, exitCode };
}
