// Checking a bundle: a file that holds a close with all its entries.
import type { BalanceRow } from "../core/close.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../core/journal.ts";
import { CloseCheck, type CloseVerdict } from "./close-check.ts";
import { readBalanceRow, readCanonicalEntry, readCloseRecord } from "./documents.ts";
import { readStrictJson } from "./strict-json.ts";

/** A file that is no bundle at all: there is nothing to check. */
export class NoBundle extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NoBundle";
  }
}

/**
 * Checks a bundle line by line. `expected` is a merkleRoot or closeHash from elsewhere, 64 lower-case hex
 * digits, or null. Throws NoBundle where the file does not even begin as one.
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
  if (bundle === null) throw new NoBundle("the file is empty");
  return bundle.finish(expected);
}

const entryLineStart = '{"kind":"entry","entry":';

class BundleCheck {
  readonly #check: CloseCheck;
  readonly #balances: BalanceRow[] = [];
  #entries = 0;
  #lineNumber = 1;
  #hasEnded = false;

  constructor(firstLine: string) {
    const first = readFirst(firstLine);
    const record = readCloseRecord(first["close"]);
    if ("fault" in record) throw new NoBundle(`the close record can't be read: ${record.fault}`);
    this.#check = new CloseCheck(record.document, "period");
    this.#requireMembers(first, ["kind", "format", "close"]);
  }

  addLine(line: string): void {
    this.#lineNumber += 1;
    if (!this.#hasEnded && this.#addCanonicalEntry(line)) return;
    const read = readStrictJson(line);
    if ("fault" in read) {
      this.#find(read.fault);
      return;
    }
    if (this.#hasEnded) {
      this.#find("stands behind the trailer");
      return;
    }
    const value = read.document;
    switch (value["kind"]) {
      case "account":
        this.#addAccount(value);
        return;
      case "entry":
        this.#addEntry(value);
        return;
      case "trailer":
        this.#addTrailer(value);
        return;
      default:
        this.#find(`is of no kind that a bundle has: ${text(value["kind"])}`);
    }
  }

  finish(expected: string | null): CloseVerdict {
    if (!this.#hasEnded) this.#find("is the last: there is no trailer, the file was cut off");
    return this.#check.finish(this.#balances, expected);
  }

  #addAccount(value: JsonObject): void {
    this.#requireMembers(value, ["kind", "account"]);
    if (this.#entries > 0) this.#find("is an account behind entries");
    const row = readBalanceRow(value["account"]);
    if ("fault" in row) this.#find(`is no balance row: ${row.fault}`);
    else this.#balances.push(row.document);
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

  #addEntry(value: JsonObject): void {
    this.#requireMembers(value, ["kind", "entry"]);
    this.#entries += 1;
    const { entry } = value;
    if (isJsonObject(entry)) this.#check.addEntry(entry, this.#where());
    else this.#find("has no entry");
  }

  #addTrailer(value: JsonObject): void {
    this.#hasEnded = true;
    this.#requireMembers(value, ["kind", "accounts", "entries"]);
    const { accounts, entries } = value;
    if (accounts !== this.#balances.length) {
      this.#find(`counts ${text(accounts)} accounts; there are ${this.#balances.length}`);
    }
    if (entries !== this.#entries) {
      this.#find(`counts ${text(entries)} entries; there are ${this.#entries}`);
    }
  }

  #requireMembers(value: JsonObject, names: readonly string[]): void {
    const others = Object.keys(value).filter((name) => !names.includes(name));
    for (const name of others) this.#find(`has a member ${JSON.stringify(name)}`);
  }

  /** Notes something that does not match on the current line. */
  #find(what: string): void {
    this.#check.find(this.#where(), what);
  }

  #where(): string {
    return `line ${this.#lineNumber}`;
  }
}

function readFirst(line: string): JsonObject {
  const read = readStrictJson(line);
  if ("fault" in read) throw new NoBundle(`its first line ${read.fault}`);
  const first = read.document;
  if (first["kind"] !== "close" || first["format"] !== "ledgerctl-bundle-v1") {
    throw new NoBundle("its first line is not the close of a ledgerctl-bundle-v1");
  }
  return first;
}

function text(value: JsonValue | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, 80);
}
