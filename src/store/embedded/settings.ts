// The settings ledgerctl gives its PostgreSQL: a file of its own, written anew at each start, so that
// a newer ledgerctl can change them. postgresql.conf only includes it and is the operator's.
import { totalmem } from "node:os";
import { join } from "node:path";
import type { Installation } from "./binaries.ts";
import { replaceFile } from "./durable-file.ts";
import { runProgram } from "./run-program.ts";
import { socketPort } from "./socket-directory.ts";

export const settingsFile = "ledgerctl.conf";

const fixedSettings: Record<string, string | number> = {
  listen_addresses: "",
  port: socketPort,
  unix_socket_permissions: "0700",
  cluster_name: "ledgerctl",
  // A reply means the write is on disk.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  // Few checkpoints: each is followed by full pages in the log.
  max_wal_size: "4GB",
  min_wal_size: "512MB",
  checkpoint_timeout: "15min",
  // Where one of its processes crashes, PostgreSQL ends, and a supervising opener starts it again. If it started itself again,
  // nobody would have a lease on it; and a SIGINT meanwhile would leave PostgreSQL 18 waiting for its checkpointer, which it never
  // told to end (docs/decisions/0005).
  restart_after_crash: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  // Tables only grow: visibility maps and statistics must follow inserts, not updates.
  autovacuum_naptime: "15s",
  autovacuum_vacuum_insert_scale_factor: 0.05,
  autovacuum_analyze_scale_factor: 0.05,
  logging_collector: "on",
  log_directory: "log",
  // PostgreSQL only begins new files; old ones are removed by us (server-log.ts).
  log_filename: "postgresql-%Y-%m-%d_%H%M%S.log",
  log_rotation_age: "1d",
  log_rotation_size: "8MB",
  log_min_messages: "warning",
  log_line_prefix: "%m [%p] %a ",
};

/** Takes effect at the next start. */
export async function writeSettings(folder: Installation, socketDirectory: string): Promise<void> {
  const all = {
    ...fixedSettings,
    unix_socket_directories: socketDirectory,
    // Each costs some 35 KB, used or not.
    max_connections: folder.connectionsMax,
    wal_compression: await walCompression(folder),
    shared_buffers: `${sharedBuffersMb()}MB`,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'`);
  const head = "# Written by ledgerctl at each start; changes belong into postgresql.conf.";
  await replaceFile(join(folder.cluster, settingsFile), [head, ...lines, ""].join("\n"));
}

/**
 * A sixteenth of the memory that is there, between 128 MB and 1 GB; what is not needed of it is not taken up.
 * With less than what is written to at random, each write waits for pages to go: a million wallets need 600 MB.
 */
function sharedBuffersMb(): number {
  // 0 where nothing limits this process.
  const limit = process.constrainedMemory() || Infinity;
  const share = Math.floor(Math.min(totalmem(), limit) / 16 / 2 ** 20);
  return Math.min(Math.max(share, 128), 1_024);
}

/** lz4 costs a third of pglz's time, but not every build has it; only the build itself knows. */
async function walCompression({ cluster, account, binaries }: Installation): Promise<string> {
  const question = ["-C", "wal_compression", "-D", cluster, "-c", "wal_compression=lz4"];
  const { code } = await runProgram(binaries.postgres, question, account);
  return code === 0 ? "lz4" : "pglz";
}
