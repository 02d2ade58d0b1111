// The writer of each format of an export.
import type { ExponentOf } from "../../connection/exponents.ts";
import { toJson } from "../../terminal/output.ts";
import { beancountSyntax } from "./beancount-format.ts";
import { csvFormat } from "./csv-format.ts";
import type { ExportFormat, ExportWriter } from "./export-format.ts";
import { hledgerSyntax } from "./hledger-format.ts";
import { journalFormat } from "./journal-format.ts";
import { postableEntry } from "./postable-entry.ts";

const writers: Readonly<Record<ExportFormat, (exponentOf: ExponentOf) => ExportWriter>> = {
  hledger: (exponentOf) => journalFormat(hledgerSyntax, exponentOf),
  beancount: (exponentOf) => journalFormat(beancountSyntax, exponentOf),
  csv: () => csvFormat,
  // An entry a line, in the form in which the API takes it.
  ndjson: () => ({ entry: (entry) => `${toJson(postableEntry(entry))}\n` }),
};

/** A writer for one export. */
export function writerOf(format: ExportFormat, exponentOf: ExponentOf): ExportWriter {
  return writers[format](exponentOf);
}
