// `entry post`: one entry from flags or a file, or a file of many.
import { randomUUID } from "node:crypto";
import type { Environment } from "../../../config.ts";
import { ServiceProblem, type EntryInput } from "../../../client/ledger-client.ts";
import { requireOneOf, requireWholeNumber } from "../../input/arguments.ts";
import { exitCodes, usageFailure } from "../../failure.ts";
import type { FileEntry } from "../../input/entry-files/open-entries.ts";
import type { FoundFault } from "../../input/entry-files/file-entry.ts";
import { entryFormats } from "../../input/entry-files/format.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { suggestingAccounts } from "../../input/account-suggestion.ts";
import { Exponents } from "../../connection/exponents.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import { readEntryFlags, type LabelFlags } from "./entry-flags.ts";

export interface PostFlags extends ServiceFlags, LabelFlags {
  line?: string[];
  major?: boolean;
  dryRun?: boolean;
  format?: string;
  concurrency: string;
}

const concurrencyMax = 256;
/** A server that restarts in the middle of a file is waited for. */
const retryForMs = 60_000;

export async function postEntries(
  file: string | undefined,
  flags: PostFlags,
  environment: Environment,
): Promise<number> {
  const concurrency = requireWholeNumber("--concurrency", flags.concurrency, 1, concurrencyMax);
  const format =
    flags.format === undefined ? null : requireOneOf("--format", flags.format, entryFormats);
  if (flags.line !== undefined) {
    if (file !== undefined) throw usageFailure("give either --line or a file, not both");
    if (format !== null) throw usageFailure("--format goes with a file, not with --line");
    return postFromFlags(flags, environment);
  }
  refuseEntryFlags(flags);
  if (file === undefined && process.stdin.isTTY) {
    throw usageFailure("give --line at least twice, or a file; `-` reads what you type");
  }
  const output = new Output(flags, environment.isColorRefused);
  const { openEntries } = await import("../../input/entry-files/open-entries.ts");
  const source = await openEntries(file === "-" ? null : (file ?? null), format, output.note);
  try {
    if (flags.dryRun === true) {
      const { checkEntries } = await import("./dry-run.ts");
      return await checkEntries(source.entries, null, output);
    }
    if (source.isSingle) {
      const { body } = await onlyEntry(source.entries);
      // The service judges what the file says.
      const entry = body as unknown as EntryInput;
      return await withService(flags, environment, (context) => postOne(context, entry));
    }
    await requireService(flags, environment);
    const { postList } = await import("./post-list.ts");
    const more = { connections: concurrency, retryForMs, showsProgress: true };
    return await withService(flags, environment, (c) => postList(c, source, concurrency), more);
  } finally {
    source.stop();
  }
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

async function postFromFlags(flags: PostFlags, environment: Environment): Promise<number> {
  // Mistakes in the flags are told before anything is asked of the service.
  const inSmallestUnits = flags.major === true ? null : readEntryFlags(flags, null);
  if (inSmallestUnits !== null && flags.dryRun === true) {
    return dryRun(inSmallestUnits, null, new Output(flags, environment.isColorRefused));
  }
  return withService(flags, environment, async (context) => {
    if (inSmallestUnits !== null) return postOne(context, inSmallestUnits);
    const { client, ledgerId, output } = context;
    const { functionalCurrency } = await client.getLedger(ledgerId());
    const exponents = new Exponents(client, ledgerId());
    await exponents.learn([functionalCurrency]);
    const exponent = exponents.of(functionalCurrency);
    const entry = readEntryFlags(flags, { code: functionalCurrency, exponent });
    return flags.dryRun === true
      ? dryRun(entry, functionalCurrency, output)
      : postOne(context, entry);
  });
}

async function dryRun(entry: EntryInput, currency: string | null, output: Output): Promise<number> {
  const { checkEntry } = await import("./dry-run.ts");
  return checkEntry({ ...entry, externalId: entry.externalId ?? randomUUID() }, currency, output);
}

async function onlyEntry(entries: AsyncGenerator<FileEntry | FoundFault>): Promise<FileEntry> {
  for await (const found of entries) {
    if (found.fault !== undefined) throw usageFailure(found.fault);
    return found;
  }
  throw usageFailure("there is no entry");
}

async function postOne(context: ServiceContext, entry: EntryInput): Promise<number> {
  const { client, ledgerId, output } = context;
  const id = ledgerId();
  const posted = await suggestingAccounts({ client, ledgerId: id, codes: codesOf(entry) }, () =>
    client.postEntry(id, entry),
  );
  output.created(posted, ({ journalId }) => journalId);
  return exitCodes.done;
}

/** The codes of its lines; what a file says may be anything. */
function codesOf({ lines }: { lines?: unknown }): string[] {
  if (!Array.isArray(lines)) return [];
  return lines.flatMap((line: { glAccountCode?: unknown } | null) =>
    typeof line?.glAccountCode === "string" ? [line.glAccountCode] : [],
  );
}

/** A file says these things itself. */
function refuseEntryFlags(flags: PostFlags): void {
  const given = {
    "--major": flags.major,
    "--external-id": flags.externalId,
    "--date": flags.date,
    "--description": flags.description,
    "--meta": flags.meta,
  };
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) throw usageFailure(`${name} goes with --line, not with a file`);
  }
}
