// Which currencies the lines of a file's entries name.
import type { Found } from "./file-entry.ts";

/** The same entries; `seen` gets the transaction currencies of those that have come. */
export async function* notingCurrencies<Entry extends Found>(
  entries: AsyncIterable<Entry>,
  seen: Set<string>,
): AsyncGenerator<Entry> {
  for await (const entry of entries) {
    const lines: unknown = entry.body?.["lines"];
    for (const line of Array.isArray(lines) ? (lines as unknown[]) : []) {
      const code = (line as { transactionCurrency?: unknown } | null)?.transactionCurrency;
      if (typeof code === "string") seen.add(code);
    }
    yield entry;
  }
}
