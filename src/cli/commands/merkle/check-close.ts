// A close recomputed from the content of its entries, which come from a bundle or page by page from the service.
import { isUtf8 } from "node:buffer";
import type { Environment } from "../../../config.ts";
import type { CloseRecord } from "../../../core/close.ts";
import { checkBundle, NoBundle } from "../../../verify/bundle.ts";
import { CloseCheck, type CloseVerdict } from "../../../verify/close-check.ts";
import { balanceRowOf, hashedPart, readCloseRecord } from "../../../verify/documents.ts";
import type { LedgerClient } from "../../../client/ledger-client.ts";
import { readLines } from "../../input/entry-files/byte-lines.ts";
import { openByteSource, type ByteSource } from "../../input/entry-files/byte-source.ts";
import { CommandFailure, usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { describeShare, ProgressLine } from "../../terminal/progress-line.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import { findClose } from "../period/find-close.ts";
import { damaged, unreadable } from "./verdict.ts";

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
  if (bundle !== undefined && period === undefined) return checkFile(bundle, expected);
  if (period !== undefined && bundle === undefined) {
    return checkPeriod(period, flags, environment, expected);
  }
  throw usageFailure("say either --period or --bundle");
}

async function checkFile(file: string, expected: string | null): Promise<CloseVerdict> {
  const source = await openSource(file);
  try {
    return await checkBundle(linesOf(source.chunks), expected);
  } catch (error) {
    if (error instanceof NoBundle) throw damaged(`${file} is no bundle: ${error.message}`);
    if (error instanceof CommandFailure) throw unreadable(error);
    throw error;
  } finally {
    source.stop();
  }
}

/** The longest entry that the service takes comes to less, every character of it escaped. */
const lineBytesMax = 16 * 1024 * 1024;

async function openSource(file: string): Promise<ByteSource> {
  try {
    return await openByteSource(file === "-" ? null : file);
  } catch (error) {
    throw error instanceof CommandFailure ? unreadable(error) : error;
  }
}

const lineFeed = 0x0a;

/** Lines as text; one that is too long or no UTF-8 becomes an empty one, which no check takes. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let lastByte: number | undefined;
  async function* noted(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      lastByte = chunk.at(-1);
      yield chunk;
    }
  }
  for await (const { bytes } of readLines(noted(), lineBytesMax)) {
    yield bytes === null || !isUtf8(bytes) ? "" : bytes.toString("utf8");
  }
  // Cut off within its last line.
  if (lastByte !== undefined && lastByte !== lineFeed) yield "";
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
    const record = readCloseRecord(claimed);
    if ("fault" in record) throw new Error(`the service's close can't be read: ${record.fault}`);
    const check = new CloseCheck(record.document, "journal");
    await addJournal(check, record.document, client, new ProgressLine(!output.isQuiet));
    return check.finish(balances.map(balanceRowOf), expected);
  };
  return withService(flags, environment, checkJournal, { showsProgress: true });
}

async function addJournal(
  check: CloseCheck,
  close: CloseRecord,
  client: LedgerClient,
  progress: ProgressLine,
): Promise<void> {
  const startedMs = performance.now();
  let after = 0;
  const total = close.lastSequence;
  progress.tell(() =>
    describeShare({
      done: after,
      total,
      unit: "entries",
      elapsedMs: performance.now() - startedMs,
    }),
  );
  try {
    while (after < total) {
      const { entries } = await client.listEntries(close.ledgerId, { after, limit: 100 });
      const last = entries.at(-1);
      if (last === undefined) return;
      for (const entry of entries) {
        if (entry.sequence > total) return;
        check.addEntry(hashedPart(entry), `sequence ${entry.sequence}`);
      }
      if (last.sequence <= after) throw new Error("the service's list does not go on");
      after = last.sequence;
    }
  } finally {
    progress.end();
  }
}
