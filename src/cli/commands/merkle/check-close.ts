// A close recomputed from the content of its entries, which come from a bundle or page by page from the service.
import { isUtf8 } from "node:buffer";
import type { Environment } from "../../../config.ts";
import type { CloseRecord } from "../../../core/close.ts";
import { BundleCheck, type BundleLine, type BundleReader } from "../../../verify/bundle.ts";
import type { CheckedBundle } from "../../../verify/close-chain.ts";
import { CloseCheck } from "../../../verify/close-check.ts";
import { balanceRowOf, closeDocument, readDocument } from "../../../verify/documents.ts";
import { expecting, type CloseVerdict } from "../../../verify/verdict.ts";
import type { Close, LedgerClient } from "../../../client/ledger-client.ts";
import { readLineGroups, type ByteLine } from "../../input/entry-files/byte-lines.ts";
import { usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { describeShare, withProgress } from "../../terminal/progress-line.ts";
import { pages } from "../../connection/pages.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import { findClose } from "../period/find-close.ts";
import { checkFile } from "./check-file.ts";

export interface SourceFlags extends ServiceFlags {
  period?: string;
  bundle?: string;
}

/**
 * Checks the close of a period or a bundle, whichever the flags name. `expected` is a merkleRoot or closeHash, 64
 * lower-case hex digits, or null.
 */
export async function checkSource(
  flags: SourceFlags,
  environment: Environment,
  expected: string | null,
): Promise<CloseVerdict> {
  const { period, bundle } = flags;
  if (bundle !== undefined && period === undefined) {
    return expecting((await checkBundleFile(bundle)).verdict, expected);
  }
  if (period !== undefined && bundle === undefined) {
    return expecting((await checkPeriod(period, flags, environment)).verdict, expected);
  }
  throw usageFailure("say either --period or --bundle");
}

/** Checks a bundle, or stdin for `-`, while `reader` takes what it has. The verdict is not anchored. */
export async function checkBundleFile(
  file: string,
  reader: BundleReader = {},
): Promise<CheckedBundle> {
  return checkFile(file, "bundle", async (chunks) => {
    const bundle = new BundleCheck(reader);
    for await (const lines of bundleLines(chunks)) bundle.addLines(lines);
    const verdict = bundle.finish();
    return { record: bundle.record, balances: bundle.balances, verdict };
  });
}

/** The longest entry that the service takes comes to less, every character of it escaped. */
const lineBytesMax = 16 * 1024 * 1024;

/** The lines of a bundle as text; one that is too long or no UTF-8 becomes empty, which no check takes. */
export async function* bundleLines(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Iterable<BundleLine>> {
  for await (const group of readLineGroups(chunks, lineBytesMax)) yield textsOf(group);
}

function* textsOf(lines: Iterable<ByteLine>): Generator<BundleLine> {
  for (const { bytes, isEnded } of lines) {
    yield { text: bytes !== null && isUtf8(bytes) ? bytes.toString("utf8") : "", isEnded };
  }
}

/** Reads the journal up to the close as anybody can who may list entries. The verdict is not anchored. */
export async function checkPeriod(
  period: string,
  flags: ServiceFlags,
  environment: Environment,
): Promise<CheckedBundle> {
  const checkJournal = async ({ client, ledgerId, output }: ServiceContext) => {
    const id = ledgerId();
    const { closeId } = await findClose(client, id, period);
    const { balances, ...claimed } = await client.getClose(id, closeId);
    const record = readCloseRecord(claimed);
    const check = new CloseCheck(record, "journal");
    await addJournal(check, record, client, !output.isQuiet);
    const rows = balances.map(balanceRowOf);
    return { record, balances: rows, verdict: check.finish(rows) };
  };
  return withService(flags, environment, checkJournal, { showsProgress: true });
}

/** The record of a close as the service says it. */
export function readCloseRecord(claimed: Close): CloseRecord {
  const read = readDocument(closeDocument, claimed);
  if ("fault" in read) throw new Error(`the service's close can't be read: ${read.fault}`);
  return read.document;
}

async function addJournal(
  check: CloseCheck,
  close: CloseRecord,
  client: LedgerClient,
  isProgressShown: boolean,
): Promise<void> {
  let done = 0;
  const total = close.lastSequence;
  const describe = (elapsedMs: number) =>
    describeShare({ done, total, unit: "entries", elapsedMs });
  await withProgress(isProgressShown, describe, async () => {
    for await (const { entries } of pages(
      (part) => client.listEntries(close.ledgerId, part),
      (page) => page.entries.map(({ sequence }) => sequence),
      { after: 0, limit: total },
    )) {
      for (const { reversedByJournalId, ...document } of entries) {
        if (document.sequence > total) return;
        check.addEntry(document, `sequence ${document.sequence}`);
        done = document.sequence;
      }
    }
  });
}
