// Charts of accounts as CSV (RFC 4180, UTF-8): glAccountCode,name[,type][,active].
import { createReadStream } from "node:fs";
import { CsvError, parse } from "csv-parse";
import { accountTypes, type AccountType } from "../../core/ledger.ts";
import { errorCode } from "../../core/thrown.ts";
import { labelCodePointsMax, textFault } from "../../core/text.ts";
import type { ChartRow } from "../../engine/accounts.ts";
import { refuseOtherSeparators } from "./entry-files/csv-columns.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { fileFailureReason } from "./file-failure.ts";

const knownColumns = ["glAccountCode", "name", "type", "active"];

/** Reads a whole chart, or fails naming the line and column that is wrong. */
export async function readChart(file: string): Promise<ChartRow[]> {
  const rows: ChartRow[] = [];
  const header: string[] = [];
  const columns = (names: readonly string[]) => {
    header.push(...checkHeader(names));
    return header;
  };
  const lineOfCode = new Map<string, number>();
  try {
    const source = createReadStream(file);
    const parser = parse({ bom: true, columns, info: true, skip_empty_lines: true });
    // pipe does not hand on what goes wrong at its source.
    source.once("error", (error) => parser.destroy(error)).pipe(parser);
    for await (const item of parser) {
      const { record, info } = item as { record: Record<string, string>; info: { lines: number } };
      const row = readRow(record, info.lines);
      const first = lineOfCode.get(row.glAccountCode);
      if (first !== undefined) {
        throw fault(info.lines, "glAccountCode", `is the same as on line ${first}`);
      }
      lineOfCode.set(row.glAccountCode, info.lines);
      rows.push(row);
    }
    if (header.length === 0)
      throw usageFailure("the file is empty; its first line names the columns");
  } catch (error) {
    throw inFile(file, error);
  }
  return rows;
}

function checkHeader(header: readonly string[]): string[] {
  const names = header.map((name) => name.trim());
  refuseOtherSeparators(names);
  for (const needed of ["glAccountCode", "name"]) {
    if (!names.includes(needed))
      throw usageFailure(`line 1: the header lacks the column ${needed}`);
  }
  const unknown = names.find((name) => !knownColumns.includes(name));
  if (unknown !== undefined) {
    throw usageFailure(
      `line 1: the column "${unknown}" is not known; the columns are ${knownColumns.join(", ")}`,
    );
  }
  return names;
}

function readRow(record: Record<string, string>, line: number): ChartRow {
  const { glAccountCode = "", name = "", type = "", active = "" } = record;
  const texts = { glAccountCode, name };
  for (const [column, value] of Object.entries(texts)) {
    // A byte that is no UTF-8 was read as U+FFFD; keeping it would rename the account silently.
    const detail = value.includes("\ufffd")
      ? "is not valid UTF-8"
      : textFault(value, labelCodePointsMax);
    if (detail !== null) throw fault(line, column, detail);
  }
  if (type !== "" && !isAccountType(type)) {
    throw fault(line, "type", `must be one of ${accountTypes.join(", ")}, or empty`);
  }
  if (!["", "true", "false"].includes(active)) {
    throw fault(line, "active", "must be true, false or empty");
  }
  return {
    glAccountCode,
    name,
    type: type === "" ? null : type,
    active: active === "" ? null : active === "true",
  };
}

export function isAccountType(text: string): text is AccountType {
  return accountTypes.some((type) => type === text);
}

function fault(line: number, column: string, detail: string) {
  return usageFailure(`line ${line}, column ${column}: ${detail}`);
}

function inFile(file: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof CommandFailure || error instanceof CsvError) {
    return usageFailure(`${file}: ${error.message}`);
  }
  return errorCode(error) === null
    ? error
    : usageFailure(`${file} can't be read: ${fileFailureReason(error)}`);
}
