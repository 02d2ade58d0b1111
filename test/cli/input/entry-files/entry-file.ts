// Real files for the readers, and all that comes out of them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openEntries, type FileEntry } from "../../../../src/cli/input/entry-files/open-entries.ts";
import type { FoundFault } from "../../../../src/cli/input/entry-files/file-entry.ts";
import type { EntryFormat } from "../../../../src/cli/input/entry-files/format.ts";

export interface ReadFile {
  readonly isSingle: boolean;
  readonly found: readonly (FileEntry | FoundFault)[];
  readonly bodies: readonly Record<string, unknown>[];
  readonly externalIds: readonly string[];
  readonly faults: readonly string[];
  readonly remarks: readonly string[];
}

/** A folder that goes away with the test file, and a reader of files in it. */
export function entryFolder(): {
  path: (name: string) => string;
  read: (name: string, content: string | Buffer, format?: EntryFormat) => Promise<ReadFile>;
} {
  const folder = mkdtempSync(join(tmpdir(), "ledgerctl-entries-"));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  const path = (name: string) => join(folder, name);
  return {
    path,
    read: async (name, content, format) => {
      writeFileSync(path(name), content);
      const remarks: string[] = [];
      const source = await openEntries(path(name), format ?? null, (text) => remarks.push(text));
      const found: (FileEntry | FoundFault)[] = [];
      for await (const item of source.entries) found.push(item);
      source.stop();
      const entries = found.filter((item) => item.fault === undefined);
      return {
        isSingle: source.isSingle,
        found,
        bodies: entries.map(({ body }) => body),
        externalIds: entries.map(({ externalId }) => externalId),
        faults: found.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
        remarks,
      };
    },
  };
}

/** An entry of two lines over one amount. */
export function entry(amount: number, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    ...more,
    lines: [
      { glAccountCode: "1000", functionalAmount: String(amount) },
      { glAccountCode: "4000", functionalAmount: String(-amount) },
    ],
  };
}

export function ndjson(...values: unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}
