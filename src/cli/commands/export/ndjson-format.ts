// NDJSON that `entry post` reads: an entry a line, in the form in which the API takes it.
import { toJson } from "../../terminal/output.ts";
import type { ExportWriter } from "./export-format.ts";
import { postableEntry } from "./postable-entry.ts";

export const ndjsonFormat: ExportWriter = {
  entry: (entry) => `${toJson(postableEntry(entry))}\n`,
};
