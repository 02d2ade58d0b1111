// What became of one entry of a list, and the line that says so.
import { messageOf } from "../../../core/thrown.ts";
import { ServiceProblem } from "../../../client/ledger-client.ts";
import { toJson } from "../../terminal/output.ts";
import { placeInCsv } from "../../input/entry-files/csv-columns.ts";
import { printable } from "../../terminal/printable.ts";

interface Written {
  readonly status: "posted" | "skipped";
  readonly line: number;
  readonly externalId: string;
  readonly journalId: string;
  readonly persistedAt: string;
}

interface Refused {
  readonly status: "failed";
  readonly line: number;
  /** Of a CSV: on which line of the file each line of the entry stands. */
  readonly rowLines?: readonly number[];
  readonly externalId: string | null;
  readonly error: unknown;
  readonly fault?: never;
}

/** Not even sent: it can't be read. */
interface Unreadable {
  readonly status: "failed";
  readonly line: number;
  readonly externalId: null;
  readonly fault: string;
  readonly error?: never;
}

export type PostResult = Written | Refused | Unreadable;

/** The result on one line: an object with `--json`, the id alone with `--quiet`. */
export function resultLine(
  result: PostResult,
  output: { readonly isJson: boolean; readonly isQuiet: boolean },
): string {
  if (output.isJson) return toJson(resultDocument(result));
  const { status, externalId } = result;
  if (status !== "failed") {
    return output.isQuiet
      ? result.journalId
      : `${status.padEnd(7)}  ${printable(externalId)}  ${result.journalId}`;
  }
  return `${status.padEnd(7)}  ${printable(`${externalId ?? "-"}  ${describe(result)}`)}`;
}

function resultDocument(result: PostResult): object {
  if (result.status !== "failed") {
    const { status, externalId, journalId, persistedAt, line } = result;
    return { status, externalId, journalId, persistedAt, line };
  }
  const { status, externalId, line, error, fault } = result;
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
    detail: detail ?? fault ?? messageOf(error),
    errors,
    instance,
  };
}

/**
 * `line 12: #/lines/0/glAccountCode: … (400 VALIDATION_ERROR, request …)`; of a CSV,
 * `line 12, column glAccountCode: …`
 */
function describe(result: Refused | Unreadable): string {
  if (result.fault !== undefined) return result.fault;
  const { line, rowLines, error } = result;
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
