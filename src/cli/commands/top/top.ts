// `top`: asks a server for its metrics, and shows them live, or the figures of one interval.
import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "../../../config.ts";
import { ServiceUnreachable } from "../../../client/errors.ts";
import { requireDurationMs } from "../../input/arguments.ts";
import { requireHttpUrl, resolveConnection } from "../../connection/settings.ts";
import { CommandFailure, exitCodes, notFoundFailure } from "../../failure.ts";
import { exitOnInterrupt } from "../../terminal/interrupts.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { isScreenWanted, Output } from "../../terminal/output.ts";
import { figuresOf, type Figures } from "./figures.ts";
import { figureLines, laneCells } from "./lines.ts";
import { Scrape } from "./metrics-text.ts";

export interface TopFlags extends OutputFlags {
  url?: string;
  metricsUrl?: string;
  profile?: string;
  interval: string;
  once?: boolean;
}

const answerMsMax = 15_000;

/** Resolves with the exit code. */
export async function top(flags: TopFlags, environment: Environment): Promise<number> {
  exitOnInterrupt();
  const output = new Output(flags, environment.isColorRefused);
  const intervalMs = requireDurationMs("--interval", flags.interval);
  const url = await metricsUrl(flags, environment, output);
  const scrape = () => scrapeMetrics(url);
  const first = await scrape();
  if (flags.once !== true && isScreenWanted(output, environment)) {
    const { topOnScreen } = await import("./top-screen.tsx");
    return topOnScreen(url, first, { scrape, intervalMs, isColored: output.isColored });
  }
  await sleep(intervalMs);
  output.result(figuresOf(first, await scrape(), Date.now()), (figures) => text(figures, output));
  return exitCodes.done;
}

async function metricsUrl(
  flags: TopFlags,
  environment: Environment,
  output: Output,
): Promise<string> {
  if (flags.metricsUrl !== undefined) return requireHttpUrl(flags.metricsUrl, "--metrics-url");
  const { url, urlSource } = await resolveConnection(flags, environment, output);
  return `${requireHttpUrl(url ?? "", urlSource)}/metrics`;
}

async function scrapeMetrics(url: string): Promise<Scrape> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(answerMsMax) }).catch(
    (error: unknown) => {
      throw new ServiceUnreachable(url, error instanceof Error ? (error.cause ?? error) : error);
    },
  );
  const body = await answer.text();
  const atMs = performance.now();
  if (answer.status === 404) {
    throw notFoundFailure(
      `there are no metrics at ${url}: a server tells them to its own machine only, or at an address of their ` +
        "own (`serve --metrics-port`), which --metrics-url names",
    );
  }
  const scrape = new Scrape(body, atMs);
  if (answer.status !== 200 || !scrape.isOurs) {
    throw new CommandFailure(
      `${url} answered ${answer.status}, and not with metrics of ledgerctl`,
      answer.status >= 500 ? exitCodes.unavailable : exitCodes.failed,
    );
  }
  return scrape;
}

function text(figures: Figures, output: Output): string {
  const lanes = output.table(figures.lanes, [
    { title: "LANE", value: ({ lane }) => lane },
    ...laneCells.map(([title, value]) => ({ title, align: "right" as const, value })),
  ]);
  const lines = figureLines(figures).map((line) => `${line.name.padEnd(10)}${line.text}`);
  return [lanes, "", ...lines].join("\n");
}
