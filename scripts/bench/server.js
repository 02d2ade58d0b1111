// Starts a built checkout on an embedded database of its own for a benchmark, or a second server on the same
// database, and stops it again.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../import-source.js";

/** Resolves with credentials, the process id and how to stop it. `flags` are more flags of `serve`. */
export async function startBenchServer(checkout = root, flags = []) {
  const home = mkdtempSync(join(tmpdir(), "ledgerctl-bench-"));
  // Started as root, the database runs as another user; its folder has to be within that user's reach.
  chmodSync(home, 0o755);
  const server = await serve(checkout, home, ["--bootstrap", ...flags]);
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
export async function startSecondServer(first) {
  return { ...first, ...(await serve(root, first.home, [])) };
}

async function serve(checkout, home, flags) {
  const dataDir = join(home, "books");
  const binary = join(checkout, "bin", "ledgerctl.js");
  const child = spawn(binary, ["serve", ...flags, "--json", "--port", "0", "--data-dir", dataDir], {
    env: { ...process.env, HOME: home, LEDGERCTL_LOG_LEVEL: "warn" },
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
      if (child.exitCode !== null) return;
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await exited;
    },
  };
}
