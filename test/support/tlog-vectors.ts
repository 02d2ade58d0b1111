// test/vectors/tlog.json: logs, checkpoints, consistency and proofs, and what has to be refused.
import { readFileSync } from "node:fs";
import type { LogKind } from "../../src/core/log-origin.ts";
import { parseVerifierKey, signatureTypes } from "../../src/core/note.ts";
import type { SignedCase } from "./signed-cases.ts";

export interface LogVectors {
  readonly origin: string;
  readonly seed: string;
  readonly publicKey: string;
  readonly verifierKey: string;
  readonly leafData: string | readonly string[];
  readonly checkpoints: readonly { size: number; root: string; note: string }[];
  readonly consistency: readonly { from: number; to: number; hashes: readonly string[] }[];
  readonly proofs: readonly { index: number; size: number; proof: string }[];
}

export const tlogVectors = JSON.parse(
  readFileSync(new URL("../vectors/tlog.json", import.meta.url), "utf8"),
) as {
  readonly logKeyBase64: string;
  readonly logName: string;
  readonly ledgerId: string;
  readonly logs: Readonly<Record<LogKind, LogVectors>>;
  readonly cosignature: Readonly<
    Record<"name" | "seed" | "verifierKey" | "line" | "note", string>
  > & {
    readonly time: number;
  };
  readonly mustFail: readonly { why: string; text: string; verifierKeys: readonly string[] }[];
};

/** The data of a log's leaves. */
export function leafDataOf({ leafData }: LogVectors): readonly string[] {
  return typeof leafData === "string"
    ? Array.from({ length: 300 }, (_, index) => `leaf data ${index + 1}`)
    : leafData;
}

/** A checkpoint or a proof, and its keys: witnesses by their type, all of whom have to have cosigned. */
export function vectorCase(text: string, keys: readonly string[]): SignedCase {
  const isWitness = (key: string) => parseVerifierKey(key).type === signatureTypes.cosignature;
  return {
    data: Buffer.from(text),
    verifierKeys: keys.filter((key) => !isWitness(key)),
    witnessKeys: keys.filter(isWitness),
  };
}
