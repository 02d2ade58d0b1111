// Logs of a ledger as small as tests want them, signed with keys of the tests' own.
import { createHash } from "node:crypto";
import { cosign, formatCheckpoint } from "../../src/core/checkpoint.ts";
import { logSigner } from "../../src/core/log-origin.ts";
import { auditRanges, hashLeaf, rootOf, type Hash } from "../../src/core/merkle.ts";
import { NoteSigner, signatureTypes } from "../../src/core/note.ts";
import { formatTlogProof } from "../../src/core/tlog-proof.ts";
import { formatNote } from "./format-note.ts";

/** The ledger of test/vectors/tlog.json and close.json. */
export const ledgerId = "0190b6a0-0000-7000-8000-000000000001";
export const journalOrigin = `ledger.example.com/${ledgerId}/journal`;
export const closesOrigin = `ledger.example.com/${ledgerId}/closes`;

/** When the witnesses of these tests cosign, in Unix seconds. */
export const cosignedAt = 1_767_225_600;

/** A witness's key; the same one with another signature type is another key. */
export function witnessOf(name: string, type: number = signatureTypes.cosignature): NoteSigner {
  return new NoteSigner(name, createHash("sha256").update(name).digest(), type);
}

/** A log over the data of its leaves. */
export class TestLog {
  readonly signer: NoteSigner;
  readonly #data: readonly Buffer[];
  readonly #leaves: readonly Hash[];

  constructor(
    readonly origin: string,
    data: readonly (string | Buffer)[],
  ) {
    this.signer = logSigner(Buffer.alloc(32, 7), origin);
    this.#data = data.map((each) => Buffer.from(each));
    this.#leaves = this.#data.map(hashLeaf);
  }

  get size(): number {
    return this.#leaves.length;
  }

  /** The text of the checkpoint over the first leaves. */
  text(size = this.size): string {
    return formatCheckpoint({ origin: this.origin, size, rootHash: this.rootHash(0, size) });
  }

  /** The signed note, cosigned by these witnesses. */
  note(size = this.size, witnesses: readonly NoteSigner[] = []): string {
    const text = this.text(size);
    const cosignatures = witnesses.map((witness) => cosign(witness, text, cosignedAt));
    return formatNote({ text, signatures: [this.signer.sign(text), ...cosignatures] });
  }

  /** The proof of a leaf, with its data. */
  proof(index: number, size = this.size, witnesses: readonly NoteSigner[] = []): string {
    const path = auditRanges(index, size).map(({ from, to }) => this.rootHash(from, to));
    const extra = this.#data[index] ?? null;
    return formatTlogProof({ extra, index, path, checkpoint: this.note(size, witnesses) });
  }

  /** The root over the leaves `from` up to, not including, `to`. */
  rootHash(from: number, to: number): Hash {
    return rootOf(this.#leaves.slice(from, to));
  }
}
