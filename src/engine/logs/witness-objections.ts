// What witnesses have to say against a log going on from its newest checkpoint.
import { formatCheckpoint } from "../../core/checkpoint.ts";
import type { LogIdentity } from "../../core/log-origin.ts";
import { consistencyRanges } from "../../core/merkle.ts";
import type { Connection } from "../../store/database/connection.ts";
import { findNewestCheckpoint } from "../../store/log-checkpoints.ts";
import { readRoots } from "./log-tree.ts";
import type { SubmissionWitness } from "./witness-request.ts";
import { askWitness, type WitnessOpinion } from "./witness-submission.ts";

/**
 * Asks each witness whether it has seen more of a log than its newest checkpoint, or another tree. Resolves with a
 * sentence for each that has, or that can't be asked; none where all agree.
 */
export async function listWitnessObjections(
  connection: Connection,
  identity: LogIdentity,
  witnesses: readonly SubmissionWitness[],
): Promise<readonly string[]> {
  if (witnesses.length === 0) return [];
  const newest = await findNewestCheckpoint(connection, identity);
  // A witness answers nothing without a checkpoint that the log's key signed.
  if (newest === null) {
    return ["no witness can be asked: the log has no checkpoint in the database"];
  }
  const { size, signatures } = newest;
  const checkpoint = {
    size,
    note: `${formatCheckpoint(newest)}\n${signatures}`,
    proveFrom: (from: number) => readRoots(connection, identity, consistencyRanges(from, size)),
  };
  const objections = await Promise.all(
    witnesses.map(async (witness) =>
      objectionOf(witness.name, size, await askWitness(witness, checkpoint)),
    ),
  );
  return objections.flatMap((objection) => objection ?? []);
}

function objectionOf(name: string, size: number, opinion: WitnessOpinion): string | null {
  switch (opinion.opinion) {
    case "agrees":
      return null;
    case "has more":
      return `the witness ${name} has seen size ${opinion.size}, and the newest checkpoint in the database has size ${size}`;
    case "has another root":
      return `the witness ${name} has seen another tree: what it has, of size ${opinion.size}, is not the beginning of the newest checkpoint`;
    case "unknown":
      return `the witness ${name} can't be asked: ${opinion.reason}`;
  }
}
