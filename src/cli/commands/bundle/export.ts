// `bundle export`: the entries of a bundle for other programs, as they are read. Offline.
import type { Environment } from "../../../config.ts";
import { currencyExponent, currencyExponents } from "../../../core/currencies.ts";
import { BundleCheck } from "../../../verify/bundle.ts";
import type { EntryDocument } from "../../../verify/documents.ts";
import type { CloseVerdict } from "../../../verify/verdict.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { requireOneOf } from "../../input/arguments.ts";
import { exitOnInterrupt } from "../../terminal/interrupts.ts";
import { Output, printTexts } from "../../terminal/output.ts";
import { writeOutputFile } from "../../terminal/output-file.ts";
import { exportFormats, type ExportWriter } from "../export/export-format.ts";
import { writerOf } from "../export/writers.ts";
import { bundleLines } from "../merkle/check-close.ts";
import { checkFile } from "../merkle/check-file.ts";

export interface ExportFlags extends OutputFlags {
  format: string;
  out?: string;
}

/** Thrown where a bundle does not match itself, so that no file is left of it. */
class Mismatch extends Error {
  readonly verdict: CloseVerdict;

  constructor(verdict: CloseVerdict) {
    super("the bundle does not match itself");
    this.verdict = verdict;
  }
}

export async function exportBundle(
  file: string,
  flags: ExportFlags,
  environment: Environment,
): Promise<void> {
  const format = requireOneOf("--format", flags.format, exportFormats);
  const output = new Output(flags, environment.isColorRefused);
  const out = flags.out === undefined || flags.out === "-" ? null : flags.out;
  const bundle = new ExportedBundle(writerOf(format, currencyExponent));
  if (out !== null) exitOnInterrupt();
  try {
    await checkFile(file, "bundle", async (chunks) => {
      const texts = bundle.textsOf(chunks);
      await (out === null ? printTexts(texts) : writeOutputFile(out, texts));
    });
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    const [first] = error.verdict.findings;
    throw new CommandFailure(
      `${file} does not match itself: ${first?.where ?? ""} ${first?.what ?? ""}`,
      exitCodes.verificationFailed,
    );
  }
  if (bundle.unruled.size > 0 && (format === "hledger" || format === "beancount")) {
    const codes = [...bundle.unruled].sort().join(", ");
    output.note(`amounts of ${codes} are in smallest units: a bundle has no rules of assets`);
  }
  if (out === null) return;
  const { entries, closeHash } = bundle;
  if (output.isJson) output.result({ format, entries, closeHash, file: out }, () => "");
  else {
    output.note(
      `${out} is written, entries: ${entries}, of the close with the closeHash ${closeHash}`,
    );
  }
}

/** A bundle on its way into another format, in memory for one row an account and the lines of one chunk. */
class ExportedBundle {
  readonly #writer: ExportWriter;
  readonly #accounts: string[] = [];
  readonly #entries: EntryDocument[] = [];
  readonly #bundle: BundleCheck;
  /** Codes whose decimals nobody says here. */
  readonly unruled = new Set<string>();
  entries = 0;

  constructor(writer: ExportWriter) {
    this.#writer = writer;
    this.#bundle = new BundleCheck({
      account: ({ glAccountCode }) => this.#accounts.push(glAccountCode),
      entry: (entry) => this.#entries.push(entry),
    });
  }

  /** As the bundle says it; it matches the rest unless `textsOf` has thrown. */
  get closeHash(): string {
    return this.#bundle.record.closeHash;
  }

  /** The whole of the file, as it is read. Throws MalformedFile for one that is no bundle, and Mismatch at its end. */
  async *textsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
    let isBegun = false;
    for await (const lines of bundleLines(chunks)) {
      this.#bundle.addLines(lines);
      const entries = this.#entries.splice(0);
      const [first] = entries;
      if (first === undefined) continue;
      const head = isBegun ? "" : this.#head(first.lines[0]?.functionalCurrency ?? null);
      isBegun = true;
      yield head + entries.map((entry) => this.#textOf(entry)).join("");
      this.entries += entries.length;
    }
    const verdict = this.#bundle.finish();
    if (!isBegun) yield this.#head(null);
    if (!verdict.ok) throw new Mismatch(verdict);
  }

  /** What stands before the entries; the first of them says the currency. */
  #head(functionalCurrency: string | null): string {
    const { ledgerId, periodId, number, closeHash } = this.#bundle.record;
    const contents = `entries of the period ${JSON.stringify(periodId)}, close ${number}, closeHash ${closeHash}`;
    const ledger = { id: ledgerId, name: null, functionalCurrency };
    const accounts = this.#accounts.map((glAccountCode) =>
      this.#writer.account?.({ glAccountCode, name: null, type: null }),
    );
    return [this.#writer.head?.(ledger, contents), ...accounts].join("");
  }

  #textOf(entry: EntryDocument): string {
    for (const { transactionCurrency: code } of entry.lines) {
      if (!currencyExponents.has(code)) this.unruled.add(code);
    }
    return this.#writer.entry({ ...entry, reversedByJournalId: null });
  }
}
