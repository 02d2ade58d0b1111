// What became of one entry of a list, and the line that says so.
import { messageOf } from "../../../core/thrown.ts";
import { ServiceProblem, type EntryReceipt } from "../../../client/ledger-client.ts";
import { placeInCsv } from "../../input/entry-files/csv-columns.ts";
import type { FoundFault } from "../../input/entry-files/file-entry.ts";
import type { FileEntry } from "../../input/entry-files/open-entries.ts";
import { displayWidth } from "../../terminal/fit-columns.ts";
import { toJson } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";

/** Posted, or in already with the same content; or failed, where it can't be read before it was even sent. */
export type PostResult =
  | {
      readonly status: "posted" | "skipped";
      readonly entry: FileEntry;
      readonly receipt: Pick<EntryReceipt, "journalId" | "persistedAt">;
    }
  | Failed;

interface Failed {
  readonly status: "failed";
  readonly entry: FileEntry | FoundFault;
  readonly error: unknown;
}

/**
 * The result on one line: an object with `--json`, the id alone with `--quiet`. On a terminal that is too narrow for an
 * externalId, such as a long one of a bank's row, the line of the file names the entry.
 */
export function resultLine(
  result: PostResult,
  output: {
    readonly isJson: boolean;
    readonly isQuiet: boolean;
    readonly terminalWidth: number | null;
  },
): string {
  if (output.isJson) return toJson(resultDocument(result));
  const { status, entry } = result;
  const lineNamed = (name: string, rest: string) => `${status.padEnd(7)}  ${name}  ${rest}`;
  const name = printable(entry.externalId ?? "-");
  if (status === "failed") return lineNamed(name, printable(describe(result)));
  const { journalId } = result.receipt;
  if (output.isQuiet) return journalId;
  const line = lineNamed(name, journalId);
  const isTooLong = displayWidth(line) > (output.terminalWidth ?? Infinity);
  return isTooLong ? lineNamed(`line ${entry.line}`, journalId) : line;
}

function resultDocument(result: PostResult): object {
  const { status, entry } = result;
  const { externalId = null, line } = entry;
  if (status !== "failed") {
    const { journalId, persistedAt } = result.receipt;
    return { status, externalId, journalId, persistedAt, line };
  }
  const { error } = result;
  const problem = error instanceof ServiceProblem ? error.problem : {};
  const { code, title, detail, errors, instance, journalId, persistedAt } = problem;
  return {
    status,
    externalId,
    journalId: journalId ?? null,
    persistedAt: persistedAt ?? null,
    line,
    httpStatus: error instanceof ServiceProblem ? error.status : null,
    code: code ?? null,
    title,
    detail: detail ?? messageOf(error),
    errors,
    instance,
  };
}

/**
 * `line 12: #/lines/0/glAccountCode: … (400 VALIDATION_ERROR, request …)`; of a CSV,
 * `line 12, column glAccountCode: …`
 */
function describe({ entry, error }: Failed): string {
  if (entry.fault !== undefined) return entry.fault;
  const { line, rowLines } = entry;
  if (!(error instanceof ServiceProblem)) return `line ${line}: ${messageOf(error)}`;
  const { errors = [], journalId } = error.problem;
  const faults = errors.map(({ detail, pointer, parameter }) => {
    if (rowLines !== undefined && pointer !== undefined) {
      return `${placeInCsv({ line, rowLines }, pointer)}: ${detail}`;
    }
    const place = pointer ?? parameter ?? "#";
    return place === "#" ? detail : `${place}: ${detail}`;
  });
  const what = faults.length > 0 ? faults.join("; ") : error.message;
  const first = journalId === undefined ? "" : `; the first is entry ${journalId}`;
  const code = error.code === null ? "" : ` ${error.code}`;
  const request = `(${error.status}${code}, request ${error.requestId ?? "unknown"})`;
  const isPlaced = rowLines !== undefined && faults.length > 0;
  return `${isPlaced ? "" : `line ${line}: `}${what}${first} ${request}`;
}
