// Checking a bundle: a file that holds a close with all its entries.
import * as z from "zod";
import type { BalanceRow } from "../core/close.ts";
import { isJsonObject, type JsonObject } from "../core/journal.ts";
import { CloseCheck, type CloseVerdict } from "./close-check.ts";
import {
  balanceDocument,
  closeDocument,
  MalformedFile,
  readCanonicalEntry,
  readDocument,
} from "./documents.ts";
import { readStrictJson } from "./strict-json.ts";

const firstLine = z.strictObject({
  kind: z.literal("close"),
  format: z.literal("ledgerctl-bundle-v1"),
  close: closeDocument,
});

const laterLine = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({ kind: z.literal("account"), account: balanceDocument }),
    z.strictObject({ kind: z.literal("entry"), entry: z.custom<JsonObject>(isJsonObject) }),
    z.strictObject({ kind: z.literal("trailer"), accounts: z.int(), entries: z.int() }),
  ],
  "is none that a line of a bundle has",
);

/**
 * Checks a bundle line by line. `expected` is a merkleRoot or closeHash from elsewhere, 64 lower-case hex
 * digits, or null. Throws MalformedFile where the file does not even begin as one.
 */
export async function checkBundle(
  lines: AsyncIterable<string>,
  expected: string | null,
): Promise<CloseVerdict> {
  let bundle: BundleCheck | null = null;
  for await (const line of lines) {
    if (bundle === null) bundle = new BundleCheck(line);
    else bundle.addLine(line);
  }
  if (bundle === null) throw new MalformedFile("the file is empty");
  return bundle.finish(expected);
}

const entryLineStart = '{"kind":"entry","entry":';

class BundleCheck {
  readonly #check: CloseCheck;
  readonly #balances: BalanceRow[] = [];
  #entries = 0;
  #lineNumber = 1;
  #hasEnded = false;

  constructor(text: string) {
    const json = readStrictJson(text);
    const read = "fault" in json ? json : readDocument(firstLine, json.document);
    if ("fault" in read) {
      throw new MalformedFile(
        `its first line is not the close of a ledgerctl-bundle-v1: ${read.fault}`,
      );
    }
    this.#check = new CloseCheck(read.document.close, "period");
  }

  addLine(text: string): void {
    this.#lineNumber += 1;
    if (this.#hasEnded) this.#find("stands behind the trailer");
    else if (!this.#addCanonicalEntry(text)) this.#addLaterLine(text);
  }

  finish(expected: string | null): CloseVerdict {
    if (!this.#hasEnded) this.#find("is the last: there is no trailer, the file was cut off");
    return this.#check.finish(this.#balances, expected);
  }

  /** Takes a line as the service writes entries, the document in canonical form; false for any other line. */
  #addCanonicalEntry(line: string): boolean {
    if (!line.startsWith(entryLineStart)) return false;
    const text = line.slice(entryLineStart.length, -1);
    const document = line.endsWith("}") ? readCanonicalEntry(text) : null;
    if (document === null) return false;
    this.#entries += 1;
    this.#check.addDocument(document, text);
    return true;
  }

  #addLaterLine(text: string): void {
    const json = readStrictJson(text);
    const read = "fault" in json ? json : readDocument(laterLine, json.document);
    if ("fault" in read) {
      this.#find(read.fault);
      return;
    }
    const line = read.document;
    switch (line.kind) {
      case "account":
        if (this.#entries > 0) this.#find("is an account behind entries");
        this.#balances.push(line.account);
        return;
      case "entry":
        this.#entries += 1;
        this.#check.addEntry(line.entry, `line ${this.#lineNumber}`);
        return;
      case "trailer":
        this.#hasEnded = true;
        this.#compareCount("accounts", line.accounts, this.#balances.length);
        this.#compareCount("entries", line.entries, this.#entries);
    }
  }

  #compareCount(name: string, counted: number, found: number): void {
    if (counted !== found) this.#find(`counts ${counted} ${name}; there are ${found}`);
  }

  /** Notes something that does not match on the current line. */
  #find(what: string): void {
    this.#check.find(`line ${this.#lineNumber}`, what);
  }
}
