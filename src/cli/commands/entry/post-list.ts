// Posts a list of entries: several requests under way, a result for each, and a summary. What ends the
// run early (a service that is gone, Ctrl-C) leaves it to be run again.
import { isSameEntry } from "../../../contract/entry-equality.ts";
import { ServiceProblem, type WireEntryInput } from "../../../client/ledger-client.ts";
import type { FoundFault } from "../../entry-files/file-entry.ts";
import type { EntrySource, FileEntry } from "../../entry-files/open-entries.ts";
import { describeFailure, exitCodeOf, exitCodes, type ExitCode } from "../../failure.ts";
import type { ServiceContext } from "../../service-context.ts";
import { outputDrained } from "../../output-drained.ts";
import { resultLine, type PostResult } from "./post-result.ts";
import { Progress } from "./progress.ts";

/** Why reading stopped before the end of the file. */
interface Stop {
  readonly exitCode: ExitCode;
  readonly message: string;
}

interface Run {
  posted: number;
  skipped: number;
  failed: number;
  firstFailure: { line: number; exitCode: ExitCode } | null;
  stop: Stop | null;
}

export async function postList(
  context: ServiceContext,
  source: EntrySource,
  concurrency: number,
): Promise<ExitCode> {
  const { output } = context;
  const run: Run = { posted: 0, skipped: 0, failed: 0, firstFailure: null, stop: null };
  const startedMs = performance.now();
  const handled = () => run.posted + run.skipped + run.failed;
  const progress = new Progress(!output.isQuiet, source, handled);
  const stopWith = (stop: Stop) => {
    run.stop ??= stop;
    source.stop();
  };
  const interrupt = () => {
    stopWith({ exitCode: exitCodes.interrupted, message: "ledgerctl: interrupted" });
    context.wait.refuse();
    if (context.wait.signal.aborted) return;
    output.note("stopping once what is under way has finished; Ctrl-C again stops at once");
  };
  process.once("SIGINT", interrupt);
  const ledgerId = context.ledgerId();
  const work = async () => {
    try {
      // The generator hands out entries one at a time however many ask, so that only so many are held.
      for (;;) {
        const next = await source.entries.next();
        if (next.done === true || run.stop !== null) return;
        const result = await postOne(context, ledgerId, next.value);
        // Given up by the user: what became of it, the next run finds out.
        if (context.wait.signal.aborted) return;
        count(run, result);
        progress.printBetween(() => {
          print(context, result);
        });
        await outputDrained();
        if (endsRun(result)) stopWith(stopBecauseOf(result.error));
      }
    } catch (error) {
      stopWith({ exitCode: exitCodeOf(error), message: describeFailure(error) });
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
  } finally {
    progress.end();
    process.off("SIGINT", interrupt);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const rate = Math.round(handled() / Math.max(seconds, 0.001));
  output.note(
    `posted ${run.posted}, already there ${run.skipped}, failed ${run.failed} ` +
      `in ${seconds.toFixed(1)} s (${rate}/s)`,
  );
  if (run.stop !== null) {
    const again = "\n  Not all of the file was posted; run the same command again to go on.";
    // What is wrong with the file is so the next time, too.
    const isOver = run.stop.exitCode === exitCodes.usage;
    process.stderr.write(`${run.stop.message}${isOver ? "" : again}\n`);
  }
  return run.stop?.exitCode ?? run.firstFailure?.exitCode ?? exitCodes.done;
}

async function postOne(
  { client }: ServiceContext,
  ledgerId: string,
  found: FileEntry | FoundFault,
): Promise<PostResult> {
  if (found.fault !== undefined) return { status: "failed", externalId: null, ...found };
  const { line, rowLines, externalId } = found;
  const place = { line, ...(rowLines === undefined ? {} : { rowLines }) };
  // The service judges what the file says; what it refuses is refused before types matter here.
  const body = found.body as unknown as WireEntryInput;
  try {
    return { status: "posted", line, externalId, ...(await client.postEntry(ledgerId, body)) };
  } catch (error) {
    const journalId = firstWithSameId(error);
    if (journalId === null) return { status: "failed", ...place, externalId, error };
    try {
      const stored = await client.getEntry(ledgerId, journalId);
      if (!isSameEntry(body, stored)) return { status: "failed", ...place, externalId, error };
      const { persistedAt } = stored;
      return { status: "skipped", line, externalId, journalId, persistedAt };
    } catch (unread) {
      return { status: "failed", ...place, externalId, error: unread };
    }
  }
}

function firstWithSameId(error: unknown): string | null {
  if (!(error instanceof ServiceProblem) || error.code !== "DUPLICATE_ENTRY") return null;
  return error.problem.journalId ?? null;
}

function count(run: Run, result: PostResult): void {
  run[result.status] += 1;
  if (result.status !== "failed") return;
  const { line } = result;
  if (run.firstFailure === null || line < run.firstFailure.line) {
    const exitCode = result.fault === undefined ? exitCodeOf(result.error) : exitCodes.usage;
    run.firstFailure = { line, exitCode };
  }
}

function print({ output }: ServiceContext, result: PostResult): void {
  const text = resultLine(result, output);
  // With --quiet stdout holds ids alone.
  if (result.status === "failed" && output.isQuiet && !output.isJson) output.warn(text);
  else output.line(text);
}

/** Whether every other entry would fail the same way: nobody answers, or not to this key or ledger. */
function endsRun(result: PostResult): result is PostResult & { error: unknown } {
  if (result.status !== "failed" || result.fault !== undefined) return false;
  const { error } = result;
  const exitCode = exitCodeOf(error);
  if (exitCode === exitCodes.unavailable || exitCode === exitCodes.notPermitted) return true;
  return error instanceof ServiceProblem && error.status === 404 && error.code === null;
}

function stopBecauseOf(error: unknown): Stop {
  return { exitCode: exitCodeOf(error), message: describeFailure(error) };
}
