// The file of a backup: whatever is changed in it or cut off it is found before anything is used.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { requireWhole } from "../../src/backup/backup-file.ts";
import { DamagedBackup, UnreadableBackup } from "../../src/backup/backup-format.ts";
import { ContentReader } from "../../src/backup/content-reader.ts";
import { readBackup, type BackupContent } from "../../src/backup/read-backup.ts";
import { gzipBackup } from "../support/backups.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-backup-file-"));
const file = join(folder, "some.backup");

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const rows = "1\tone\n2\ttwo with \\\\. in it\n";
const manifest = {
  format: "ledgerctl backup",
  version: 1,
  ledgerctl: "0.1.0",
  postgresql: "18.4",
  takenAt: "2026-03-31T02:00:00.000Z",
  migrations: ["0001_books"],
  hasSecrets: false,
};
const tables = [
  { name: "empty", rows: 0, sha256: sha256("") },
  { name: "things", rows: 2, sha256: sha256(rows) },
];

function contentWith(changes: {
  manifest?: object;
  tables?: object;
  rows?: string;
  more?: string;
}): string {
  return [
    `${JSON.stringify({ ...manifest, ...changes.manifest })}\n`,
    '{"table":"empty","columns":["id"]}\n\\.\n',
    `{"table":"things","columns":["id","name"]}\n${changes.rows ?? rows}\\.\n`,
    `${JSON.stringify({ tables: changes.tables ?? tables, sequences: [] })}\n`,
    changes.more ?? "",
  ].join("");
}

async function read(bytes: Buffer): Promise<BackupContent & { read: string }> {
  writeFileSync(file, bytes);
  const handle = await open(file);
  try {
    let text = "";
    const whole = await requireWhole(handle, () => undefined);
    const content = await readBackup(
      whole,
      async (_, pieces) => {
        for await (const piece of pieces) text += piece.toString();
      },
      () => undefined,
    );
    return { ...content, read: text };
  } finally {
    await handle.close();
  }
}

describe("a backup's file", () => {
  const good = gzipBackup(contentWith({}));

  it("gives what was written, and its rows as they were", async () => {
    const { read: text, ...content } = await read(good);
    expect(content).toEqual({ manifest, secrets: null, tables, sequences: [] });
    expect(text).toBe(rows);
  });

  it("is a gzip file that gunzip reads without a word", () => {
    expect(gunzipSync(good).toString()).toBe(contentWith({}));
    expect(execFileSync("gzip", ["-dc"], { input: good, stdio: "pipe" }).toString()).toBe(
      contentWith({}),
    );
  });

  it("is refused with any of its bytes changed", async () => {
    for (let at = 0; at < good.length; at += 1) {
      const changed = Buffer.from(good);
      changed[at] = (good[at] ?? 0) ^ 0x01;
      await expect(read(changed), `byte ${at}`).rejects.toBeInstanceOf(DamagedBackup);
    }
  });

  it("is refused at every length but its own", async () => {
    for (let length = 0; length < good.length; length += 1) {
      const cut = good.subarray(0, length);
      await expect(read(cut), `${length} bytes`).rejects.toBeInstanceOf(DamagedBackup);
    }
    await expect(read(Buffer.concat([good, good]))).rejects.toBeInstanceOf(DamagedBackup);
    await expect(read(Buffer.concat([good, Buffer.alloc(1)]))).rejects.toBeInstanceOf(
      DamagedBackup,
    );
  });

  it.each([
    ["another number of rows", { tables: [tables[0], { ...tables[1], rows: 3 }] }],
    ["another sum", { tables: [tables[0], { ...tables[1], sha256: sha256("other") }] }],
    ["a table less in its last line", { tables: [tables[0]] }],
    ["changed rows", { rows: "1\tone\n" }],
    ["something behind its last line", { more: "{}\n" }],
    ["an unfinished line at its end", { more: "{" }],
    ["no time in its first line", { manifest: { takenAt: null } }],
    ["secrets that it does not have", { manifest: { hasSecrets: true } }],
  ])("is refused with %s, however it is sealed", async (_, changes) => {
    await expect(read(gzipBackup(contentWith(changes)))).rejects.toBeInstanceOf(DamagedBackup);
  });

  it("is told from one that a newer version wrote", async () => {
    const newer = read(gzipBackup(contentWith({ manifest: { version: 2 } })));
    await expect(newer).rejects.toBeInstanceOf(UnreadableBackup);
  });
});

describe("reading rows", () => {
  const field = fc.constantFrom("", "\\\\.", ".", "\\\\", "a", "\\N", "{}");
  const row = fc
    .array(field, { minLength: 1, maxLength: 3 })
    .map((fields) => `${fields.join("\t")}\n`);
  const table = fc.array(row, { maxLength: 4 }).map((all) => all.join(""));

  it("finds their end wherever the pieces are cut", async () => {
    const cases = fc.asyncProperty(
      fc.array(table, { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 }),
      async (all, lengths) => {
        const text = all.map((each, index) => `{"n":${index}}\n${each}\\.\n`).join("");
        const reader = new ContentReader(cut(Buffer.from(text), lengths));
        for (const [index, each] of all.entries()) {
          expect(await reader.line()).toBe(`{"n":${index}}`);
          let found = "";
          for await (const piece of reader.rows()) found += piece.toString();
          expect(found).toBe(each);
        }
        expect(await reader.line()).toBeNull();
      },
    );
    await fc.assert(cases, { numRuns: 300 });
  });
});

async function* cut(bytes: Buffer, lengths: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
    const length = lengths[piece % lengths.length] ?? 1;
    yield bytes.subarray(at, at + length);
    at += length;
  }
}
