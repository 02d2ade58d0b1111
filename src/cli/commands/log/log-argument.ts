// LOG and --size on the command line: which of a ledger's logs, and which of its checkpoints.
import { logKinds, type LogKind } from "../../../core/log-origin.ts";
import { requireOneOf, requireWholeNumber } from "../../input/arguments.ts";

/** `journal` where it is left out. */
export function requireLogKind(log = "journal"): LogKind {
  return requireOneOf("LOG", log, logKinds);
}

/** The leaves of a checkpoint; left out where the newest is meant. */
export function readSize(size: string | undefined): { size?: number } {
  return size === undefined ? {} : { size: requireWholeNumber("--size", size, 1) };
}
