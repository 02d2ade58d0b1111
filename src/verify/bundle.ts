// Checking a bundle: a file that holds a close with all its entries.
import * as z from "zod";
import type { BalanceRow, CloseRecord } from "../core/close.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../core/journal.ts";
import { readCanonicalEntry } from "./canonical-entry.ts";
import { CloseCheck } from "./close-check.ts";
import {
  balanceDocument,
  closeDocument,
  MalformedFile,
  readDocument,
  type EntryDocument,
} from "./documents.ts";
import { readStrictJson } from "./strict-json.ts";
import { expecting, type CloseVerdict } from "./verdict.ts";

const firstLine = z.object({
  kind: z.literal("close"),
  format: z.literal("ledgerctl-bundle-v1"),
  close: closeDocument,
});

/** A line of a bundle. */
export interface BundleLine {
  /** Without its line feed. */
  readonly text: string;
  /** False for a last line without a line feed. */
  readonly isEnded: boolean;
}

/** Takes what a bundle has, in its order, as far as it can be read; what it is worth the verdict says. */
export interface BundleReader {
  readonly account?: (row: BalanceRow) => void;
  readonly entry?: (entry: EntryDocument) => void;
}

/**
 * Checks a bundle line by line; lines come in groups, as they are read. `expected` is a merkleRoot or closeHash from
 * elsewhere, 64 lower-case hex digits, or null. Throws MalformedFile where the file does not even begin as one.
 */
export async function checkBundle(
  groups: AsyncIterable<Iterable<BundleLine>>,
  expected: string | null,
): Promise<CloseVerdict> {
  const bundle = new BundleCheck();
  for await (const lines of groups) bundle.addLines(lines);
  return expecting(bundle.finish(), expected);
}

const entryLineStart = '{"kind":"entry","entry":';

/** Takes the lines of one bundle, in memory for one row an account. */
export class BundleCheck {
  readonly #reader: BundleReader;
  readonly #balances: BalanceRow[] = [];
  #begun: { readonly record: CloseRecord; readonly check: CloseCheck } | null = null;
  #accounts = 0;
  #entries = 0;
  #lineNumber = 0;
  #hasEnded = false;

  constructor(reader: BundleReader = {}) {
    this.#reader = reader;
  }

  /** The close, as the bundle says it. Throws MalformedFile before the first line. */
  get record(): CloseRecord {
    return this.#bundle.record;
  }

  /** The trial balance, as the bundle says it. */
  get balances(): readonly BalanceRow[] {
    return this.#balances;
  }

  /** Throws MalformedFile where the first line is not that of a bundle. */
  addLines(lines: Iterable<BundleLine>): void {
    for (const { text, isEnded } of lines) {
      this.#addLine(text);
      if (!isEnded) this.#find("has no line feed at its end: the file may have been cut off");
    }
  }

  /** The verdict, which is not anchored yet. Throws MalformedFile where there was no line. */
  finish(): CloseVerdict {
    if (this.#begun === null) throw new MalformedFile("the file is empty");
    if (!this.#hasEnded) this.#find("is the last: there is no trailer, the file was cut off");
    return this.#check.finish(this.#balances);
  }

  get #bundle() {
    if (this.#begun === null) throw new MalformedFile("the file is empty");
    return this.#begun;
  }

  get #check(): CloseCheck {
    return this.#bundle.check;
  }

  #begin(text: string): void {
    const json = readStrictJson(text);
    if ("fault" in json) throw noBundle(json.fault);
    const read = readDocument(firstLine, json.document);
    if ("fault" in read) throw noBundle(read.fault);
    const record = read.document.close;
    this.#begun = { record, check: new CloseCheck(record, "period") };
    this.#findOtherMembers(json.document, ["kind", "format", "close"]);
  }

  #addLine(text: string): void {
    this.#lineNumber += 1;
    if (this.#begun === null) this.#begin(text);
    else if (this.#hasEnded) this.#find("stands behind the trailer");
    else if (!this.#addCanonicalEntry(text)) this.#addLaterLine(text);
  }

  /** Takes a line as the service writes entries, the document in canonical form; false for any other line. */
  #addCanonicalEntry(line: string): boolean {
    if (!line.startsWith(entryLineStart)) return false;
    const text = line.slice(entryLineStart.length, -1);
    const document = line.endsWith("}") ? readCanonicalEntry(text) : null;
    if (document === null) return false;
    this.#entries += 1;
    this.#check.addDocument(document, text);
    // What canonical entries are read by leaves most of them out.
    this.#reader.entry?.(JSON.parse(text) as EntryDocument);
    return true;
  }

  /** What is readable of a faulty line is counted and hashed, so that its fault is the only finding. */
  #addLaterLine(text: string): void {
    const json = readStrictJson(text);
    if ("fault" in json) {
      this.#find(json.fault);
      return;
    }
    const line = json.document;
    switch (line["kind"]) {
      case "account":
        this.#addAccount(line);
        return;
      case "entry":
        this.#addEntry(line);
        return;
      case "trailer":
        this.#hasEnded = true;
        this.#findOtherMembers(line, ["kind", "accounts", "entries"]);
        this.#compareCount("accounts", line["accounts"], this.#accounts);
        this.#compareCount("entries", line["entries"], this.#entries);
        return;
      default:
        this.#find(`is of no kind that a bundle has: ${shown(line["kind"])}`);
    }
  }

  #addAccount(line: JsonObject): void {
    this.#accounts += 1;
    this.#findOtherMembers(line, ["kind", "account"]);
    if (this.#entries > 0) this.#find("is an account behind entries");
    const row = readDocument(balanceDocument, line["account"]);
    if ("fault" in row) this.#find(`is no balance row: ${row.fault}`);
    else {
      this.#balances.push(row.document);
      this.#reader.account?.(row.document);
    }
  }

  #addEntry(line: JsonObject): void {
    this.#entries += 1;
    this.#findOtherMembers(line, ["kind", "entry"]);
    const { entry } = line;
    if (!isJsonObject(entry)) {
      this.#find("has no entry");
      return;
    }
    const read = this.#check.addEntry(entry, `line ${this.#lineNumber}`);
    if (read !== null) this.#reader.entry?.(read);
  }

  #compareCount(name: string, counted: JsonValue | undefined, found: number): void {
    if (counted !== found) this.#find(`counts ${shown(counted)} ${name}; there are ${found}`);
  }

  #findOtherMembers(line: JsonObject, names: readonly string[]): void {
    const others = Object.keys(line).filter((name) => !names.includes(name));
    for (const name of others) this.#find(`has a member ${JSON.stringify(name)}`);
  }

  /** Notes something that does not match on the current line. */
  #find(what: string): void {
    this.#check.find(`line ${this.#lineNumber}`, what);
  }
}

function noBundle(fault: string): MalformedFile {
  return new MalformedFile(`its first line is not the close of a ledgerctl-bundle-v1: ${fault}`);
}

function shown(value: JsonValue | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, 80);
}
