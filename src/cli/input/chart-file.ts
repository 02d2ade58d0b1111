// Charts of accounts as CSV (RFC 4180, UTF-8): glAccountCode,name[,type][,active].
import { accountTypes } from "../../core/ledger.ts";
import { labelCodePointsMax, textFault } from "../../core/text.ts";
import type { ChartRow } from "../../engine/accounts.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { openByteSource, UnreadableFile } from "./entry-files/byte-source.ts";
import { readHeader } from "./entry-files/csv-columns.ts";
import { readCsvRows, type Texts } from "./entry-files/csv-rows.ts";
import { findLayout } from "./entry-files/format.ts";

const columns = ["glAccountCode", "name", "type", "active"] as const;
type ChartColumn = (typeof columns)[number];

/** Reads a whole chart, or fails naming the line and column that is wrong. */
export async function readChart(file: string): Promise<ChartRow[]> {
  const source = await openByteSource(file);
  const rows: ChartRow[] = [];
  const lineOfCode = new Map<string, number>();
  try {
    const { chunks } = await findLayout(source.chunks, "csv", file);
    for await (const { line, texts, fault: broken } of readCsvRows(chunks, readChartHeader)) {
      if (texts === undefined) throw usageFailure(broken);
      const row = readRow(texts, line);
      const first = lineOfCode.get(row.glAccountCode);
      if (first !== undefined) {
        throw fault(line, "glAccountCode", `is the same as on line ${first}`);
      }
      lineOfCode.set(row.glAccountCode, line);
      rows.push(row);
    }
  } catch (error) {
    const isAboutContent = error instanceof CommandFailure && !(error instanceof UnreadableFile);
    throw isAboutContent ? usageFailure(`${file}: ${error.message}`) : error;
  } finally {
    source.stop();
  }
  return rows;
}

function readChartHeader(fields: readonly string[]): readonly ChartColumn[] {
  if (fields.length === 0)
    throw usageFailure("the file is empty; its first line names the columns");
  return readHeader(fields, columns, ["glAccountCode", "name"]);
}

function readRow(texts: Texts<ChartColumn>, line: number): ChartRow {
  const { glAccountCode = "", name = "", type = "", active = "" } = texts;
  for (const [column, value] of Object.entries({ glAccountCode, name })) {
    const detail = textFault(value, labelCodePointsMax);
    if (detail !== null) throw fault(line, column, detail);
  }
  const accountType = accountTypes.find((known) => known === type) ?? null;
  if (type !== "" && accountType === null) {
    throw fault(line, "type", `must be one of ${accountTypes.join(", ")}, or empty`);
  }
  if (!["", "true", "false"].includes(active)) {
    throw fault(line, "active", "must be true, false or empty");
  }
  return {
    glAccountCode,
    name,
    type: accountType,
    active: active === "" ? null : active === "true",
  };
}

function fault(line: number, column: string, detail: string) {
  return usageFailure(`line ${line}, column ${column}: ${detail}`);
}
