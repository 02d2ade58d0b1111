// What became of one entry of a list, and the line that says so.
import { messageOf } from "../../../core/thrown.ts";
import { ServiceProblem, type EntryReceipt } from "../../../client/ledger-client.ts";
import { placeInCsv } from "../../input/entry-files/csv-columns.ts";
import type { FoundFault } from "../../input/entry-files/file-entry.ts";
import type { FileEntry } from "../../input/entry-files/open-entries.ts";
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

/** The result on one line: an object with `--json`, the id alone with `--quiet`. */
export function resultLine(
  result: PostResult,
  output: { readonly isJson: boolean; readonly isQuiet: boolean },
): string {
  if (output.isJson) return toJson(resultDocument(result));
  const { status, entry } = result;
  const label = `${status.padEnd(7)}  ${printable(entry.externalId ?? "-")}`;
  if (status === "failed") return `${label}  ${printable(describe(result))}`;
  const { journalId } = result.receipt;
  return output.isQuiet ? journalId : `${label}  ${journalId}`;
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
