// `entry post`: one entry from flags or a file, or a file of many.
import type { Environment } from "../../../config.ts";
import { ServiceProblem, type EntryInput } from "../../../client/ledger-client.ts";
import { unknownCurrencies } from "../../../core/currencies.ts";
import { requireOneOf, requireWholeNumber } from "../../input/arguments.ts";
import { exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import { notingCurrencies } from "../../input/entry-files/currencies.ts";
import type { EntrySource, FileEntry } from "../../input/entry-files/open-entries.ts";
import type { FoundFault } from "../../input/entry-files/file-entry.ts";
import { entryFormats, type EntryFormat } from "../../input/entry-files/format.ts";
import { Output } from "../../terminal/output.ts";
import { withService } from "../../connection/service-context.ts";
import type { FlagEntryFlags } from "./post-from-flags.ts";
import { postOne } from "./post-one.ts";

export interface PostFlags extends FlagEntryFlags {
  format?: string;
  concurrency?: string;
}

const concurrencyMax = 256;
/** A server that restarts in the middle of a file is waited for. */
const retryForMs = 60_000;

export async function postEntries(
  file: string | undefined,
  flags: PostFlags,
  environment: Environment,
): Promise<ExitCode> {
  const concurrency =
    flags.concurrency === undefined
      ? null
      : requireWholeNumber("--concurrency", flags.concurrency, 1, concurrencyMax);
  const format =
    flags.format === undefined ? null : requireOneOf("--format", flags.format, entryFormats);
  const origin = originOf(flags);
  if (origin !== null) {
    if (file !== undefined) throw usageFailure(`give either ${origin} or a file, not both`);
    if (format !== null) throw usageFailure(`--format goes with a file, not with ${origin}`);
    const { postFromFlags } = await import("./post-from-flags.ts");
    return postFromFlags(flags, environment);
  }
  refuseEntryFlags(flags);
  if (file === undefined && process.stdin.isTTY) {
    throw usageFailure(
      "give --line at least twice, --like, --edit, or a file; `-` reads what you type",
    );
  }
  return postFile(
    file === "-" ? null : (file ?? null),
    { format, concurrency },
    flags,
    environment,
  );
}

/** The flag that says what the entry is, where it comes from no file. */
function originOf({ line, like, edit }: PostFlags): string | null {
  if (line !== undefined) return "--line";
  if (like !== undefined) return "--like";
  return edit === true ? "--edit" : null;
}

async function postFile(
  file: string | null,
  {
    format,
    concurrency,
  }: { readonly format: EntryFormat | null; readonly concurrency: number | null },
  flags: PostFlags,
  environment: Environment,
): Promise<ExitCode> {
  const output = new Output(flags, environment.isColorRefused);
  const { openEntries } = await import("../../input/entry-files/open-entries.ts");
  const opened = await openEntries(file, format, output.note);
  const currencies = new Set<string>();
  const source = { ...opened, entries: notingCurrencies(opened.entries, currencies) };
  try {
    if (flags.dryRun === true) {
      const { checkEntries } = await import("./dry-run.ts");
      return await checkEntries(source.entries, null, output);
    }
    if (source.isSingle) return await postSingle(source, flags, environment);
    await requireService(flags, environment);
    const { concurrencyUsual, postList } = await import("./post-list.ts");
    const connections = concurrency ?? concurrencyUsual;
    const more = { connections, retryForMs, showsProgress: true };
    return await withService(flags, environment, (c) => postList(c, source, concurrency), more);
  } finally {
    source.stop();
    noteUnknown(currencies, output);
  }
}

async function postSingle(
  { entries }: EntrySource,
  flags: PostFlags,
  environment: Environment,
): Promise<ExitCode> {
  const { body } = await onlyEntry(entries);
  // The service judges what the file says.
  const entry = body as unknown as EntryInput;
  await withService(flags, environment, (context) => postOne(context, entry));
  return exitCodes.done;
}

async function onlyEntry(entries: AsyncGenerator<FileEntry | FoundFault>): Promise<FileEntry> {
  for await (const found of entries) {
    if (found.fault !== undefined) throw usageFailure(found.fault);
    return found;
  }
  throw usageFailure("there is no entry");
}

/** What a file says may be an export with assets of its own: codes are named, not refused. */
function noteUnknown(currencies: ReadonlySet<string>, output: Output): void {
  const unknown = unknownCurrencies([...currencies]).sort();
  if (unknown.length === 0) return;
  output.note(`ATTENTION: no currency of ISO 4217: ${unknown.join(", ")}`);
}

/**
 * Rejects where nobody answers, after the few seconds that any command waits: later, in the middle of a file, a server is
 * waited for longer. Whatever it answers, it is there.
 */
async function requireService(flags: PostFlags, environment: Environment): Promise<void> {
  await withService(flags, environment, async ({ client, ledgerId }) => {
    await client.getLedger(ledgerId()).catch((error: unknown) => {
      if (!(error instanceof ServiceProblem)) throw error;
    });
  });
}

/** A file says these things itself. */
function refuseEntryFlags(flags: PostFlags): void {
  const given = {
    "--major": flags.major,
    "--external-id": flags.externalId,
    "--date": flags.date,
    "--type": flags.type,
    "--description": flags.description,
    "--meta": flags.meta,
    "--allow-unknown-currency": flags.allowUnknownCurrency,
  };
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) throw usageFailure(`${name} goes with --line, not with a file`);
  }
}
