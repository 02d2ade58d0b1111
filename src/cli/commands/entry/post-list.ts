// Posts a list of entries: several requests under way, a result for each, and a summary. What ends the
// run early (a service that is gone, Ctrl-C) leaves it to be run again.
import { isSameEntry } from "../../../contract/entry-equality.ts";
import {
  ServiceProblem,
  type EntryInput,
  type EntryOutcome,
} from "../../../client/ledger-client.ts";
import type { EntrySource, FileEntry } from "../../input/entry-files/open-entries.ts";
import {
  CommandFailure,
  exitCodeOf,
  exitCodes,
  HintedFailure,
  usageFailure,
  type ExitCode,
} from "../../failure.ts";
import type { ServiceContext } from "../../connection/service-context.ts";
import { describeProgress, ProgressLine } from "../../terminal/progress-line.ts";
import { type Output } from "../../terminal/output.ts";
import { Bulks, type Found } from "./bulks.ts";
import { resultLine, type PostResult } from "./post-result.ts";

/** Entries of one request. */
const bulkMax = 200;
/** Bodies of one request: half of what a server takes that is not told otherwise. */
const bulkBytesMax = 512 * 1024;
/** Entries of all requests under way: less than a server lets wait in one ledger. */
const underWayMax = 2_000;
/** Requests under way at once, unless told. */
export const concurrencyUsual = 16;
/** So much is posted in its order, unless told: one request after the other, which larger files would take long for. */
const inOrderBytesMax = 512 * 1024;

/** What has become of the entries so far. */
class Run {
  posted = 0;
  skipped = 0;
  failed = 0;
  firstFailure: { line: number; exitCode: ExitCode } | null = null;
  /** Why reading stopped before the end of the file: the first failure that did it. */
  stop: { readonly error: unknown } | null = null;
  readonly #stopReading: () => void;

  constructor(stopReading: () => void) {
    this.#stopReading = stopReading;
  }

  get handled(): number {
    return this.posted + this.skipped + this.failed;
  }

  count(result: PostResult): void {
    this[result.status] += 1;
    if (result.status !== "failed") return;
    const { line } = result.entry;
    if (this.firstFailure === null || line < this.firstFailure.line) {
      this.firstFailure = { line, exitCode: exitCodeOf(result.error) };
    }
  }

  stopBecauseOf(error: unknown): void {
    this.stop ??= { error };
    this.#stopReading();
  }
}

/**
 * Posts all that is there. `concurrency`: requests under way at once; with null, one as long as the file, or what has come
 * of a pipe, is small, so that its order is kept.
 */
export async function postList(
  context: ServiceContext,
  source: EntrySource,
  concurrency: number | null,
): Promise<ExitCode> {
  const { output, wait } = context;
  const run = new Run(source.stop);
  const startedMs = performance.now();
  const progress = new ProgressLine(!output.isQuiet);
  progress.tell((elapsedMs) =>
    describeProgress({
      handled: run.handled,
      elapsedMs,
      share: source.bytesTotal ? source.bytesRead() / source.bytesTotal : null,
    }),
  );
  const interrupt = () => {
    run.stopBecauseOf(new CommandFailure("interrupted", exitCodes.interrupted));
    wait.refuse();
    if (wait.signal.aborted) return;
    output.note("stopping once what is under way has finished; Ctrl-C again stops at once");
  };
  process.once("SIGINT", interrupt);
  try {
    await postAll(context, source, concurrency, run, progress);
  } finally {
    progress.end();
    process.off("SIGINT", interrupt);
  }
  // What is wrong with the file is so the next time, too.
  const isOver = run.stop !== null && exitCodeOf(run.stop.error) === exitCodes.usage;
  if (!isOver || run.handled > 0) noteSummary(output, run, (performance.now() - startedMs) / 1000);
  if (run.stop === null) return run.firstFailure?.exitCode ?? exitCodes.done;
  const { error } = run.stop;
  output.failure(isOver ? error : new HintedFailure(error, notAllPosted));
  return exitCodeOf(error);
}

const notAllPosted = "Not all of the file was posted; run the same command again to go on.";

function noteSummary(output: Output, run: Run, seconds: number): void {
  const rate = Math.round(run.handled / Math.max(seconds, 0.001));
  output.note(
    `posted ${run.posted}, already there ${run.skipped}, failed ${run.failed} ` +
      `in ${seconds.toFixed(1)} s (${rate}/s)`,
  );
}

/** Posts bulk after bulk, as many at once as `concurrency` says, until the file ends or the run is stopped. */
async function postAll(
  context: ServiceContext,
  source: EntrySource,
  concurrency: number | null,
  run: Run,
  progress: ProgressLine,
): Promise<void> {
  const ledgerId = context.ledgerId();
  const workersMax = concurrency ?? concurrencyUsual;
  const countMax = Math.max(1, Math.min(bulkMax, Math.floor(underWayMax / workersMax)));
  const bulks = new Bulks(source.entries, { countMax, bytesMax: bulkBytesMax });
  const isInOrder = () =>
    concurrency === null && (source.bytesTotal ?? source.bytesRead()) <= inOrderBytesMax;
  const workers: Promise<void>[] = [];
  const work = async () => {
    try {
      // Bulks are handed out one at a time however many ask, so that only so many entries are held.
      for (;;) {
        const bulk = await bulks.take();
        if (bulk.length === 0 || run.stop !== null) return;
        while (!isInOrder() && workers.length < workersMax) workers.push(work());
        for await (const result of postBulk(context, ledgerId, bulk)) {
          // Cancelled by the user: the next run finds out what became of it.
          if (context.wait.signal.aborted) return;
          // Nothing is wrong with this one: it is not posted, like those behind it.
          if (endsRun(result)) {
            run.stopBecauseOf(result.error);
            return;
          }
          run.count(result);
          // On a terminal the result would run into the line.
          if (process.stdout.isTTY) progress.clear();
          print(context, result);
          await context.output.drained();
        }
      }
    } catch (error) {
      run.stopBecauseOf(error);
    }
  };
  workers.push(work());
  // Those that are started meanwhile are awaited as well.
  for (const worker of workers) await worker;
}

/** A result for each entry, in order; of a request that failed for all of them, one that ends the run. */
async function* postBulk(
  context: ServiceContext,
  ledgerId: string,
  bulk: readonly Found[],
): AsyncGenerator<PostResult> {
  const entries = bulk.filter((found) => found.fault === undefined);
  const [first] = entries;
  const outcomes = new Map<Found, EntryOutcome | undefined>();
  if (first !== undefined && entries.length > 1) {
    try {
      const results = await context.client.postEntries(ledgerId, entries.map(bodyOf));
      entries.forEach((entry, index) => outcomes.set(entry, results[index]));
    } catch (error) {
      const result: PostResult = { status: "failed", entry: first, error };
      if (endsRun(result)) {
        yield result;
        return;
      }
      // Too much for one request, perhaps: each has its own.
    }
  }
  for (const found of bulk) {
    const outcome = outcomes.get(found);
    if (found.fault !== undefined) {
      yield { status: "failed", entry: found, error: usageFailure(found.fault) };
    } else if (outcome !== undefined && outcome.status !== 503) {
      yield await resultOf(context, ledgerId, found, outcome);
    } else {
      // What was not taken now is tried again by itself, which the client does for a while.
      yield await postOne(context, ledgerId, found);
    }
  }
}

async function postOne(
  context: ServiceContext,
  ledgerId: string,
  entry: FileEntry,
): Promise<PostResult> {
  try {
    const receipt = await context.client.postEntry(ledgerId, bodyOf(entry));
    return { status: "posted", entry, receipt };
  } catch (error) {
    return refused(context, ledgerId, entry, error);
  }
}

/** The result of an entry that was one of many in a request. */
async function resultOf(
  context: ServiceContext,
  ledgerId: string,
  entry: FileEntry,
  outcome: EntryOutcome,
): Promise<PostResult> {
  if (!("title" in outcome)) return { status: "posted", entry, receipt: outcome };
  const errors = outcome.errors?.map(({ pointer, ...fault }) => ({
    ...fault,
    // A place within the entry is wanted, not one within the request.
    ...(pointer === undefined ? {} : { pointer: pointer.replace(/^#\/entries\/\d+/, "#") }),
  }));
  const error = new ServiceProblem({
    status: outcome.status,
    problem: { ...outcome, ...(errors === undefined ? {} : { errors }) },
    requestId: outcome.instance.replace(/^urn:request:/, ""),
    retryAfterSeconds: null,
    wasRepeated: false,
  });
  return refused(context, ledgerId, entry, error);
}

/** An entry that the service did not take: it failed, unless it is in already with the same content. */
async function refused(
  { client }: ServiceContext,
  ledgerId: string,
  entry: FileEntry,
  error: unknown,
): Promise<PostResult> {
  const journalId = firstWithSameId(error);
  if (journalId === null) return { status: "failed", entry, error };
  try {
    const stored = await client.getEntry(ledgerId, journalId);
    if (!isSameEntry(bodyOf(entry), stored)) return { status: "failed", entry, error };
    return { status: "skipped", entry, receipt: stored };
  } catch (unread) {
    return { status: "failed", entry, error: unread };
  }
}

/** The service judges what the file says; what it refuses is refused before types matter here. */
function bodyOf(found: FileEntry): EntryInput {
  return found.body as unknown as EntryInput;
}

function firstWithSameId(error: unknown): string | null {
  if (!(error instanceof ServiceProblem) || error.code !== "DUPLICATE_ENTRY") return null;
  return error.problem.journalId ?? null;
}

function print({ output }: ServiceContext, result: PostResult): void {
  const text = resultLine(result, output);
  // With --quiet stdout holds ids alone.
  if (result.status === "failed" && output.isQuiet && !output.isJson) output.warn(text);
  else output.line(output.judged(text));
}

/** Whether every other entry would fail the same way: nobody answers, or not to this key or ledger. */
function endsRun(result: PostResult): result is PostResult & { error: unknown } {
  if (result.status !== "failed") return false;
  const { error } = result;
  const exitCode = exitCodeOf(error);
  if (exitCode === exitCodes.unavailable || exitCode === exitCodes.notPermitted) return true;
  return error instanceof ServiceProblem && error.status === 404 && error.code === null;
}
