// The proof of a record in a log, waited for where it is due soon, and checked before it is handed out.
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceProblem, type LogKind, type LogProofQuery } from "../../../client/ledger-client.ts";
import { parseCheckpoint } from "../../../core/checkpoint.ts";
import { parseNote } from "../../../core/note.ts";
import { parseTlogProof } from "../../../core/tlog-proof.ts";
import { UntrustedCheckpoint } from "../../../verify/checkpoint.ts";
import { readLogRecord, type LogRecord } from "../../../verify/log-record.ts";
import { verifyInclusion } from "../../../verify/tlog-proof.ts";
import type { ServiceContext } from "../../connection/service-context.ts";
import { CommandFailure, exitCodes, HintedFailure } from "../../failure.ts";
import { isUntrusted, originOf } from "./watch-trust.ts";

/** As long as requests are tried again. */
const patienceMs = 3_000;

/** The tlog-proof of an entry or a close. A record that no checkpoint covers yet is waited for as long as the service is. */
export async function getProof(
  { client, ledgerId, wait }: ServiceContext,
  log: LogKind,
  query: LogProofQuery,
): Promise<string> {
  const untilMs = Date.now() + patienceMs;
  for (;;) {
    try {
      const proof = await client.getLogProof(ledgerId(), log, query);
      requireAskedFor(proof, ledgerId(), log, query);
      return proof;
    } catch (error) {
      if (!(error instanceof ServiceProblem) || error.code !== "NOT_LOGGED_YET") throw error;
      if (query.size !== undefined) {
        throw new HintedFailure(error, "Leave --size out, or give that of a later checkpoint.");
      }
      const waitMs = (error.retryAfterSeconds ?? 1) * 1_000;
      if (Date.now() + waitMs > untilMs) throw new HintedFailure(error, hintOf(waitMs));
      await sleep(waitMs, undefined, { signal: wait.signal });
    }
  }
}

function hintOf(waitMs: number): string {
  return (
    `The next checkpoint is due within ${waitMs / 1_000} s: run this again then. ` +
    "`ledgerctl log show` tells where a log is halted."
  );
}

/** Fails unless the proof holds by itself, and is of this record; who signed is for those to check who trust a key. */
function requireAskedFor(
  text: string,
  ledgerId: string,
  log: LogKind,
  { entryId, closeId }: LogProofQuery,
): void {
  try {
    const proof = parseTlogProof(text);
    originOf(proof.checkpoint, { ledgerId, log });
    const checkpoint = { ...parseCheckpoint(parseNote(proof.checkpoint).text), signers: [] };
    const data = verifyInclusion(proof, checkpoint);
    const id = idOf(readLogRecord({ checkpoint, index: proof.index, data }));
    if (id !== (entryId ?? closeId)?.toLowerCase()) {
      throw new UntrustedCheckpoint(`it is of ${id}`);
    }
  } catch (error) {
    if (!isUntrusted(error)) throw error;
    const message = `the service's proof does not hold: ${error.message}`;
    throw new HintedFailure(
      new CommandFailure(message, exitCodes.verificationFailed),
      "Keep the checkpoints and proofs that you have: they show what was signed.",
    );
  }
}

function idOf(record: LogRecord): string {
  return record.kind === "entry" ? record.record.journalId : record.record.closeId;
}
