// Starts a built checkout on an embedded database of its own for a benchmark, or a second server on the same
// database, and stops it again.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { root } from "../import-source.js";

/**
 * Resolves with credentials, the process id and how to stop it. `flags` are more flags of `serve`, `settings` variables of its
 * environment. With the flag `--database-url` it has no database of its own.
 */
export async function startBenchServer(checkout = root, flags = [], settings = {}) {
  const home = mkdtempSync(join(tmpdir(), "ledgerctl-bench-"));
  // Started as root, the database runs as another user; its folder has to be within that user's reach.
  chmodSync(home, 0o755);
  const server = await serve(checkout, home, ["--bootstrap", ...flags], settings);
  return {
    ...server,
    /** Stops it, and keeps its database. */
    halt: server.stop,
    stop: async () => {
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Another server on a server's database, with the same credentials; it has to be stopped first. */
export async function startSecondServer(first, settings = {}) {
  return { ...first, ...(await serve(root, first.home, [], settings)) };
}

/** Runs `work` on a connection to a server's database. */
export async function withDatabase({ dataDir }, work) {
  const client = new pg.Client({
    host: join(dataDir, "socket"),
    user: "ledgerctl",
    database: "ledgerctl",
    password: readFileSync(join(dataDir, "database-password"), "utf8").trim(),
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function serve(checkout, home, flags, settings) {
  const dataDir = join(home, "books");
  const binary = join(checkout, "bin", "ledgerctl.js");
  const place = flags.includes("--database-url") ? [] : ["--data-dir", dataDir];
  const child = spawn(binary, ["serve", ...flags, ...place, "--json", "--port", "0"], {
    env: { ...process.env, HOME: home, LEDGERCTL_LOG_LEVEL: "warn", ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const facts = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line);
    Object.assign(facts, event);
    if (event.event === "ready") break;
  }
  return {
    ...facts,
    home,
    dataDir,
    pid: child.pid,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await exited;
    },
  };
}
