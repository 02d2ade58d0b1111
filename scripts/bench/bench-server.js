// Starts the built binary on an embedded database of its own for a benchmark, or a second one beside it,
// and ends it again.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const binary = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "bin", "ledgerctl.js");

/** Resolves with credentials, the process and how to end it. */
export async function startBenchServer(environment = {}) {
  const home = mkdtempSync(join(tmpdir(), "ledgerctl-bench-"));
  // Started as root, the database runs as another user; its folder has to be within that user's reach.
  chmodSync(home, 0o755);
  const server = await serve(home, ["--bootstrap"], environment);
  return {
    ...server,
    stop: async () => {
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A second server on a server's database, with the same credentials; it has to be stopped first. */
export async function startSecondServer(first) {
  return { ...first, ...(await serve(first.home, [], {}, "inherit")) };
}

async function serve(home, flags, environment) {
  const dataDir = join(home, "books");
  const env = { ...process.env, HOME: home, LEDGERCTL_LOG_LEVEL: "warn", ...environment };
  const child = spawn(binary, ["serve", ...flags, "--json", "--port", "0", "--data-dir", dataDir], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const facts = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line);
    Object.assign(facts, event);
    if (event.event === "ready") break;
  }
  const url = new URL(facts.url);
  return {
    ...facts,
    home,
    dataDir,
    host: url.hostname,
    port: Number(url.port),
    pid: child.pid,
    /** Resident memory of the server's process, in MB (Linux). */
    residentMb: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
    },
    stop: async () => {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await exited;
    },
  };
}
