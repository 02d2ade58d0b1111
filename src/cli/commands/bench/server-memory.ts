// The resident memory of a server on the same machine (Linux), while a benchmark runs.
import { readFileSync } from "node:fs";
import { usageFailure } from "../../failure.ts";

/** In MiB. */
export interface ServerMemory {
  readonly start: number;
  /** null where the benchmark took less. */
  readonly afterOneMinute: number | null;
  readonly end: number;
  readonly max: number;
}

const sampleMs = 500;
const samplesPerMinute = 60_000 / sampleMs;

/**
 * Watches from now until the function it gives is called; nothing where `pid` is null. Throws a usage failure where there is
 * no such process.
 */
export function watchServerMemory(pid: number | null): () => ServerMemory | null {
  if (pid === null) return () => null;
  const start = residentMib(pid);
  if (start === null) throw usageFailure(`--server-pid: there is no process ${pid} to watch`);
  const samples = [start];
  const sample = () => {
    samples.push(residentMib(pid) ?? 0);
  };
  const timer = setInterval(sample, sampleMs);
  return () => {
    clearInterval(timer);
    sample();
    const afterOneMinute = samples[samplesPerMinute] ?? null;
    return { start, afterOneMinute, end: samples.at(-1) ?? 0, max: Math.max(...samples) };
  };
}

function residentMib(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
  } catch {
    return null;
  }
}
