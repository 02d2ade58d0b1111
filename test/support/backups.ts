// Backups taken and restored without the command line.
import { createHash, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { contentOf, requireWhole, type WholeFile } from "../../src/backup/backup-file.ts";
import { compressions, sealOf } from "../../src/backup/compression.ts";
import { checkBackup, type BackupContent } from "../../src/backup/read-backup.ts";
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { takeBackup, type BackupSummary } from "../../src/backup/take-backup.ts";

const nothing = () => undefined;

/** The bytes of a backup; `onFirstBytes` runs while the snapshot is held. */
export async function backUp(
  databaseUrl: string,
  onFirstBytes: () => Promise<void> = () => Promise.resolve(),
): Promise<{ summary: BackupSummary; bytes: Buffer }> {
  const chunks: Buffer[] = [];
  const options = { ledgerctl: "0.0.0-test", secrets: null, onProgress: nothing };
  const summary = await takeBackup(databaseUrl, options, async (bytes) => {
    for await (const chunk of bytes) {
      if (chunks.length === 0) await onFirstBytes();
      chunks.push(chunk);
    }
  });
  return { summary, bytes: Buffer.concat(chunks) };
}

/** Checks and restores; rejects as the command would fail. */
export async function restoreInto(databaseUrl: string, bytes: Buffer): Promise<BackupContent> {
  return withFile(bytes, async (whole) => {
    const content = await checkBackup(whole, nothing);
    await restoreBackup(whole, content, databaseUrl, nothing);
    return content;
  });
}

/** The backup with other content, its sums and seal made to fit. */
export async function withContent(
  bytes: Buffer,
  change: (content: string) => string,
): Promise<Buffer> {
  const content = await withFile(bytes, async (whole) => {
    const chunks: Buffer[] = [];
    for await (const chunk of contentOf(whole)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  });
  return gzipBackup(withSums(change(content)));
}

/** A file of this content, with a seal that fits. */
export function gzipBackup(content: string): Buffer {
  const compressed = gzipSync(content);
  const compression = compressions.find(({ name }) => name === "gzip");
  if (compression === undefined) throw new Error("gzip is there");
  const digest = createHash("sha256").update(compressed).digest();
  return Buffer.concat([compressed, sealOf(compression, digest)]);
}

async function withFile<Result>(
  bytes: Buffer,
  work: (whole: WholeFile) => Promise<Result>,
): Promise<Result> {
  const path = join(tmpdir(), `ledgerctl-backup-${randomBytes(6).toString("hex")}`);
  await writeFile(path, bytes);
  const file = await open(path);
  rmSync(path);
  try {
    return await work(await requireWhole(file, nothing));
  } finally {
    await file.close();
  }
}

/** The last line as it has to be for the lines before it. */
function withSums(content: string): string {
  const lines = content.trimEnd().split("\n");
  const trailer = JSON.parse(lines.pop() ?? "") as object;
  const tables: object[] = [];
  let table: { heading: string; rows: string } | null = null;
  for (const line of lines) {
    if (table === null) table = line.startsWith('{"table"') ? { heading: line, rows: "" } : null;
    else if (line !== "\\.") table.rows += `${line}\n`;
    else {
      const { table: name } = JSON.parse(table.heading) as { table: string };
      const sha256 = createHash("sha256").update(table.rows).digest("hex");
      tables.push({ name, rows: table.rows.split("\n").length - 1, sha256 });
      table = null;
    }
  }
  return `${lines.join("\n")}\n${JSON.stringify({ ...trailer, tables })}\n`;
}
