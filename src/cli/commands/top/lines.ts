// The figures of a server as lines of text, for the screen and for `--once`.
import { counted } from "../../terminal/counted.ts";
import type { Figures, LaneFigures } from "./figures.ts";

/** A heading of a line, what it says, and whether somebody should look at it. */
export interface Line {
  readonly name: string;
  readonly text: string;
  readonly isAlarming: boolean;
}

export function figureLines(figures: Figures): Line[] {
  const { writes, posting, streams, http, database } = figures;
  const line = (name: string, facts: readonly string[], isAlarming = false): Line => ({
    name,
    text: facts.join(", "),
    isAlarming,
  });
  const kinds = Object.entries(writes.byKind).filter(([, rate]) => rate > 0);
  return [
    line("writes", [
      `${perSecond(writes.perSecond)} accepted`,
      ...kinds.map(([kind, rate]) => `${kind} ${rate.toFixed(1)}`),
    ]),
    line(
      "",
      [
        `${perSecond(writes.duplicatesPerSecond)} duplicates`,
        `${perSecond(writes.refusedPerSecond)} refused`,
        `${perSecond(writes.troublePerSecond)} in trouble`,
      ],
      writes.troublePerSecond > 0,
    ),
    line(
      "posting",
      [
        posting.lagSeconds === null ? "lag unknown" : `lag ${posting.lagSeconds.toFixed(1)} s`,
        `${countedOrUnknown(posting.pendingBatches, "batch", "batches")} pending`,
        `${perSecond(posting.entriesPerSecond)} entries`,
        `${countedOrUnknown(posting.assetsWithoutRate, "asset", "assets")} without a rate`,
      ],
      (posting.lagSeconds ?? 0) > lagSecondsAlarming || (posting.assetsWithoutRate ?? 0) > 0,
    ),
    line("books", [booksText(posting.differences)], (posting.differences ?? 0) > 0),
    line("streams", [
      `${streams.open} open`,
      counted(streams.wallets, "wallet"),
      `${perSecond(streams.messagesPerSecond)} messages`,
      `${streams.slowReaders} closed as too slow`,
    ]),
    line(
      "http",
      [
        counted(http.connections, "connection"),
        `${perSecond(http.answersPerSecond)} answers`,
        `${perSecond(http.errorsPerSecond)} from 500 on`,
      ],
      http.errorsPerSecond > 0,
    ),
    line(
      "database",
      [
        database.isUp ? "up" : "DOWN",
        `${database.busy} of ${database.connections} connections busy (at most ${database.max})`,
        `${database.waiting} waiting`,
        `${perSecond(database.errorsPerSecond)} errors`,
      ],
      !database.isUp || database.errorsPerSecond > 0,
    ),
    line("process", processFacts(figures)),
  ];
}

const lagSecondsAlarming = 60;

/** `? batches` where a server has not told yet. */
function countedOrUnknown(count: number | null, one: string, several: string): string {
  return count === null ? `? ${several}` : counted(count, one, several);
}

function booksText(differences: number | null): string {
  if (differences === null) return "wallets and postings not compared yet";
  return differences === 0
    ? "wallets and postings agree"
    : `wallets and postings DIFFER in ${counted(differences, "asset")}: run \`ledgerctl audit\``;
}

function processFacts({ process, upSeconds }: Figures): string[] {
  const { cpuCores, residentBytes, eventLoopLagMsP99: lag } = process;
  return [
    `cpu ${cpuCores.toFixed(2)} cores`,
    `${Math.round(residentBytes / 1024 / 1024)} MiB`,
    ...(lag === null ? [] : [`event loop lag ${lag.toFixed(1)} ms (p99)`]),
    ...(upSeconds === null ? [] : [`up ${upText(upSeconds)}`]),
  ];
}

export function upText(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800
    ? `${Math.floor(seconds / 3600)} h`
    : `${Math.floor(seconds / 86_400)} d`;
}

function perSecond(rate: number): string {
  return `${rate.toFixed(1)}/s`;
}

export const laneCells: readonly (readonly [title: string, text: (lane: LaneFigures) => string])[] =
  [
    ["BATCHES/s", ({ batchesPerSecond }) => batchesPerSecond.toFixed(1)],
    ["WRITES/BATCH", ({ writesPerBatch }) => writesPerBatch?.toFixed(1) ?? "-"],
    ["COMMIT MEAN", ({ commitMsMean }) => milliseconds(commitMsMean)],
    ["COMMIT P99", ({ commitMsP99 }) => milliseconds(commitMsP99)],
    ["QUEUED", ({ queueWrites }) => String(queueWrites)],
    ["RETRIES/s", ({ retriesPerSecond }) => retriesPerSecond.toFixed(1)],
  ];

function milliseconds(ms: number | null): string {
  return ms === null ? "-" : `${ms.toFixed(1)} ms`;
}
