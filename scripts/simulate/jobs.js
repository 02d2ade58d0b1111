// Runs a range of seeds in several processes at once, each a chunk at a time, and adds up what they tell.
import { spawn } from "node:child_process";
import { once } from "node:events";

/** Histories of one process: its end says that its memory is bounded, and the next one begins with none. */
const chunkMax = 100_000;

/**
 * Runs `count` histories from seed `first` on, `jobs` at once, until one fails. `onProgress` is called with the number
 * of histories so far. Resolves with their totals, and with the failure, or null. Rejects when a process ends otherwise.
 */
export async function runSeeds(
  file,
  { first, count, jobs, shrinks },
  onProgress = () => undefined,
) {
  const size = Math.min(chunkMax, Math.ceil(count / jobs));
  const totals = { histories: 0, faults: {} };
  const underWay = new Map();
  let next = first;
  let failure = null;
  const takeChunk = () => {
    const chunk = { first: next, count: Math.min(size, first + count - next) };
    next += chunk.count;
    return chunk;
  };
  const runJob = async () => {
    while (next < first + count && failure === null) {
      const child = start(file, takeChunk(), shrinks);
      underWay.set(child, 0);
      const end = await endOf(child, (histories) => {
        underWay.set(child, histories);
        onProgress([...underWay.values()].reduce((sum, each) => sum + each, totals.histories));
      });
      underWay.delete(child);
      if (end === null) return;
      addTotals(totals, end.totals);
      if (end.failure === null) continue;
      failure ??= end.failure;
      for (const other of underWay.keys()) other.kill();
    }
  };
  try {
    await Promise.all(Array.from({ length: jobs }, runJob));
  } finally {
    for (const child of underWay.keys()) child.kill();
  }
  return { totals, failure };
}

function start(file, chunk, shrinks) {
  const args = ["--first", String(chunk.first), "--count", String(chunk.count)];
  return spawn(process.execPath, [file, ...args, ...(shrinks ? ["--shrink"] : [])], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

/** What a process tells at its end; null for one that was ended here. */
async function endOf(child, onProgress) {
  let end = null;
  child.on("message", (message) => {
    if (message.kind === "progress") onProgress(message.histories);
    else end = message;
  });
  const [code, signal] = await once(child, "close");
  if (end === null && !child.killed) {
    throw new Error(`a process of the simulation ended with ${signal ?? code} and no verdict`);
  }
  return end;
}

function addTotals(totals, { faults, ...numbers }) {
  for (const [name, number] of Object.entries(numbers)) {
    totals[name] = (totals[name] ?? 0) + number;
  }
  for (const [kind, number] of Object.entries(faults)) {
    totals.faults[kind] = (totals.faults[kind] ?? 0) + number;
  }
}
