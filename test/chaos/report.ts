// How rounds and soaks are told: a line for each round or minute, and tables for docs/reliability.md.
import type { NumberedRound } from "./rounds.ts";
import type { Minute, SoakEnd } from "./soak.ts";

/** What the rounds of one fault came to. */
export interface FaultSummary {
  readonly fault: string;
  readonly rounds: number;
  readonly writes: number;
  readonly unknown: number;
  readonly wrong: number;
  readonly gapMs: Span;
  readonly recoveryMs: Span;
}

interface Span {
  readonly median: number;
  readonly longest: number;
}

export function describeRound(round: NumberedRound, seed: number): string {
  const { number, fault, shape, writes, unknown, gapMs, recoveryMs, wrong, kept } = round;
  const servers = shape.serverCount === 1 ? "1 server" : `${shape.serverCount} servers`;
  const where = `${servers}, ${shape.hasStandby ? "standby" : "no standby"}`;
  const figures = `${writes} writes, ${unknown} unknown, gap ${inSeconds(gapMs)}, recovery ${inSeconds(recoveryMs)}`;
  return [
    `${number}  ${fault} (${where}): ${figures}`,
    ...wrong.map((line) => `   wrong: ${line}`),
    ...(kept === null ? [] : [`   seed ${seed}; files are kept in ${kept}`]),
  ].join("\n");
}

export function summarize(rounds: readonly NumberedRound[]): FaultSummary[] {
  const names = [...new Set(rounds.map(({ fault }) => fault))].sort();
  return names.map((name) => {
    const made = rounds.filter(({ fault }) => fault === name);
    const sum = (figure: (round: NumberedRound) => number) =>
      made.reduce((total, round) => total + figure(round), 0);
    return {
      fault: name,
      rounds: made.length,
      writes: sum(({ writes }) => writes),
      unknown: sum(({ unknown }) => unknown),
      wrong: sum(({ wrong }) => wrong.length),
      gapMs: spanOf(made.map(({ gapMs }) => gapMs)),
      recoveryMs: spanOf(made.map(({ recoveryMs }) => recoveryMs)),
    };
  });
}

export function describeSummary(summaries: readonly FaultSummary[]): string {
  const describe = ({ median, longest }: Span) => `${inSeconds(median)}, ${inSeconds(longest)}`;
  return asTable([
    ["fault", "rounds", "writes", "unknown", "wrong", "gap: median, longest", "recovery"],
    ...summaries.map(({ fault, rounds, writes, unknown, wrong, gapMs, recoveryMs }) => [
      fault,
      ...[rounds, writes, unknown, wrong].map(String),
      describe(gapMs),
      describe(recoveryMs),
    ]),
  ]);
}

export const minuteHeader =
  "minute  writes  credits and debits: p50, p99  entries: p50, p99  gap  first server  database  fault";

export function describeMinute(of: Minute): string {
  const latency = ({ p50, p99 }: Minute["walletsMs"]) =>
    `${p50.toFixed(1)} ms, ${p99.toFixed(1)} ms`;
  const taken = ({ memoryMib, descriptors }: Minute["database"]) =>
    `${memoryMib} MiB, ${descriptors} descriptors`;
  return [
    of.minute,
    of.writes,
    latency(of.walletsMs),
    latency(of.entriesMs),
    inSeconds(of.gapMs),
    taken(of.firstServer),
    taken(of.database),
    of.fault,
  ].join("  ");
}

export function describeSoakEnd({ wrong, flatness, kept }: SoakEnd): string {
  return [
    wrong.length === 0 ? "nothing is wrong, and the audit is clean" : "",
    ...wrong.map((line) => `wrong: ${line}`),
    ...(kept === null ? [] : [`files are kept in ${kept}`]),
    ...flatness.map(
      ({ what, before, after, isFlat }) =>
        `${isFlat ? "flat " : "GROWS"}  ${what}: ${round(before)}, then ${round(after)}`,
    ),
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function spanOf(figures: readonly number[]): Span {
  const sorted = [...figures].sort((one, other) => one - other);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? NaN, longest: sorted.at(-1) ?? NaN };
}

function asTable([header = [], ...rows]: readonly (readonly string[])[]): string {
  return [header, header.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function round(figure: number): number {
  return Math.round(figure * 10) / 10;
}
