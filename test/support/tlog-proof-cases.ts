// What tlog-proof.md refuses, line by line, and what we refuse besides. The checkpoint is right, unless that is the case.
import { hashLeaf } from "../../src/core/merkle.ts";
import {
  log,
  logLine,
  strangerLine,
  witness,
  witnessLine,
  type RefusedCase,
} from "./tlog-cases.ts";

const proof = log.proof(4, 7, [witness]);
const [head = "", ...lines] = proof.slice(0, proof.indexOf("\n\n")).split("\n");
const [extra = "", index = "", ...path] = lines;
const note = log.note(7, [witness]);

/** A proof of these lines, without the first. */
function proofOf(...each: readonly string[]): string {
  return [head, ...each, "", note].join("\n");
}

/** Proofs (tlog-proof.md), whose checkpoint is right. */
export const refusedProofs: readonly RefusedCase[] = [
  ["the first line", [extra, index, ...path, "", note].join("\n"), /three lines|not the line/],
  ["a first line of this version", proof.replace("@v1", "@v2"), /three lines|not the line/],
  ["nothing before the first line", `\n${proof}`, /three lines|not the line/],
  ["no byte order mark", `\ufeff${proof}`, /three lines|not the line/],
  ["no carriage returns", proof.replaceAll("\n", "\r\n"), /control|no empty line/],
  ["one empty line before the checkpoint", [head, ...lines, note].join("\n"), /index|base64|hash/],
  ["no two empty lines", [head, ...lines, "", "", note].join("\n"), /three lines/],
  ["an empty line in the path", proofOf(extra, index, "", ...path), /three lines/],
  ["a checkpoint", `${[head, ...lines].join("\n")}\n\n`, /no empty line/],
  ["a record, which ours always have", proofOf(index, ...path), /does not have its record/],
  ["one record", proofOf(extra, extra, index, ...path), /no line "index"/],
  ["the record before the index", proofOf(index, extra, ...path), /is not a hash|base64/],
  ["a record in base64", proofOf("extra leaf!", index, ...path), /"extra" is not base64/],
  ["a record with its padding", proofOf("extra bGVhZiA0MQ", index, ...path), /not base64/],
  ["a space behind extra", proofOf(extra.replace(" ", ""), index, ...path), /no line "index"/],
  ["extra in lower case", proofOf(extra.replace("e", "E"), index, ...path), /no line "index"/],
  ["another record", proofOf("extra bGVhZiA1", index, ...path), /leads to the root/],
  ["an empty record", proofOf("extra ", index, ...path), /leads to the root/],
  ["an index", proofOf(extra, ...path), /no line "index"/],
  ["an index once", proofOf(extra, index, index, ...path), /is not a hash|base64/],
  ...["", "04", "+4", "-4", "4.0", "٤", " 4", "4 "].map((each): RefusedCase => [
    `a decimal index, not "${each}"`,
    proofOf(extra, `index ${each}`, ...path),
    /the index .* is not a decimal/,
  ]),
  ["the index of the leaf", proofOf(extra, "index 5", ...path), /leads to the root/],
  ["the index of another level", proofOf(extra, "index 6", ...path), /has no leaf|path is too/],
  ["an index within the tree", proofOf(extra, "index 7", ...path), /has no leaf 7/],
  ["an index up to 2^53", proofOf(extra, "index 9007199254740991", ...path), /has no leaf/],
  ["a path", proofOf(extra, index), /has no leaf|path is too short/],
  ["the whole path", proofOf(extra, index, ...path.slice(1)), /has no leaf|path is too short/],
  [
    "no more than the path",
    proofOf(extra, index, ...path, ...path),
    /has no leaf|path is too long/,
  ],
  ["the path in its order", proofOf(extra, index, ...path.toReversed()), /leads to the root/],
  [
    "another path",
    proofOf(extra, index, ...path.with(0, hashLeaf("x").toString("base64"))),
    /leads/,
  ],
  ["hashes in base64", proofOf(extra, index, ...path.map((each) => `${each}=`)), /base64|hash/],
  ["hashes of 32 bytes", proofOf(extra, index, "AAAA", ...path.slice(1)), /not a hash of 32 bytes/],
  ["a signed checkpoint", proof.replace(logLine, strangerLine), /no trusted key/],
  ["a cosigned checkpoint", proof.replace(witnessLine, strangerLine), /too few witnesses/],
  [
    "the checkpoint of this tree",
    proof.replace(note, log.note(6, [witness])),
    /no leaf|leads|path/,
  ],
];
