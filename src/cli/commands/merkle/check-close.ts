// A close recomputed from the content of its entries, which come from a bundle or page by page from the service.
import { isUtf8 } from "node:buffer";
import type { Environment } from "../../../config.ts";
import type { CloseRecord } from "../../../core/close.ts";
import { checkBundle, type BundleLine } from "../../../verify/bundle.ts";
import { CloseCheck, type CloseVerdict } from "../../../verify/close-check.ts";
import { balanceRowOf, closeDocument, readDocument } from "../../../verify/documents.ts";
import type { LedgerClient } from "../../../client/ledger-client.ts";
import { readLineGroups, type ByteLine } from "../../input/entry-files/byte-lines.ts";
import { usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { describeShare, withProgress } from "../../terminal/progress-line.ts";
import { pages } from "../../connection/pages.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import { findClose } from "../period/find-close.ts";
import { checkFile } from "./check-file.ts";

export interface VerifyFlags extends ServiceFlags {
  period?: string;
  bundle?: string;
  expect?: string;
}

/**
 * Checks the close of a period or a bundle, whichever the flags name. `expected` is a merkleRoot or closeHash, 64
 * lower-case hex digits, or null.
 */
export async function checkSource(
  flags: VerifyFlags,
  environment: Environment,
  expected: string | null,
): Promise<CloseVerdict> {
  const { period, bundle } = flags;
  if (bundle !== undefined && period === undefined) {
    return checkFile(bundle, "bundle", (chunks) => checkBundle(bundleLines(chunks), expected));
  }
  if (period !== undefined && bundle === undefined) {
    return checkPeriod(period, flags, environment, expected);
  }
  throw usageFailure("say either --period or --bundle");
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

/** Reads the journal up to the close as anybody can who may list entries. */
async function checkPeriod(
  period: string,
  flags: VerifyFlags,
  environment: Environment,
  expected: string | null,
): Promise<CloseVerdict> {
  const checkJournal = async ({ client, ledgerId, output }: ServiceContext) => {
    const id = ledgerId();
    const { closeId } = await findClose(client, id, period);
    const { balances, ...claimed } = await client.getClose(id, closeId);
    const record = readDocument(closeDocument, claimed);
    if ("fault" in record) throw new Error(`the service's close can't be read: ${record.fault}`);
    const check = new CloseCheck(record.document, "journal");
    await addJournal(check, record.document, client, !output.isQuiet);
    return check.finish(balances.map(balanceRowOf), expected);
  };
  return withService(flags, environment, checkJournal, { showsProgress: true });
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
