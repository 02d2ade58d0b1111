// A log in memory: leaves, checkpoints that its key signs, and proofs, all from the leaves and without the product's stores.
import { formatCheckpoint } from "../../src/core/checkpoint.ts";
import { consistencyRanges, hashLeaf, rootOf, type Hash } from "../../src/core/merkle.ts";
import { NoteSigner } from "../../src/core/note.ts";
import type { ProvableCheckpoint } from "../../src/engine/logs/witness-submission.ts";
import { formatNote } from "./format-note.ts";

export class TestLog {
  readonly origin: string;
  readonly signer: NoteSigner;
  readonly leaves: Hash[] = [];

  constructor(origin = "log.example.com/journal") {
    this.origin = origin;
    this.signer = new NoteSigner(origin, Buffer.alloc(32, 1));
  }

  /** Appends leaves that differ from those of a log with another `kind`. */
  grow(count: number, kind = "leaf"): this {
    for (let index = 0; index < count; index += 1) {
      this.leaves.push(hashLeaf(`${kind} ${this.leaves.length}`));
    }
    return this;
  }

  checkpoint(size = this.leaves.length): ProvableCheckpoint {
    const leaves = this.leaves.slice(0, size);
    const text = formatCheckpoint({ origin: this.origin, size, rootHash: rootOf(leaves) });
    return {
      size,
      note: formatNote({ text, signatures: [this.signer.sign(text)] }),
      proveFrom: async (from) =>
        consistencyRanges(from, size).map((range) => rootOf(leaves.slice(range.from, range.to))),
    };
  }
}
