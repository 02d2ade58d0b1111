// NDJSON that `entry post` reads: an entry a line, in the form in which the API takes it.
import type { Entry } from "../../../client/ledger-client.ts";
import { toJson } from "../../terminal/output.ts";
import type { ExportWriter } from "./export-format.ts";
import { postableEntry } from "./postable-entry.ts";

export class NdjsonFormat implements ExportWriter {
  head(): string {
    return "";
  }

  accounts(): string {
    return "";
  }

  entry(entry: Entry): string {
    return `${toJson(postableEntry(entry))}\n`;
  }
}
