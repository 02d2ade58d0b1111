// `log checkpoint`: a checkpoint as the log gave it out.
import { Readable } from "node:stream";
import type { Environment } from "../../../config.ts";
import { parseCheckpoint, type Checkpoint } from "../../../core/checkpoint.ts";
import { parseNote } from "../../../core/note.ts";
import { UntrustedCheckpoint } from "../../../verify/checkpoint.ts";
import { withService } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { ServiceProblem } from "../../../client/errors.ts";
import { CommandFailure, exitCodes, HintedFailure, usageFailure } from "../../failure.ts";
import { toJson } from "../../terminal/output.ts";
import { writeOutputFile } from "../../terminal/output-file.ts";
import { readSize, requireLogKind } from "./log-argument.ts";
import { isUntrusted, originOf, type WatchedLog } from "./watch-trust.ts";

export interface CheckpointFlags extends ServiceFlags {
  size?: string;
  cosigned?: boolean;
  origin?: string;
  out?: string;
}

export async function printCheckpoint(
  log: string | undefined,
  flags: CheckpointFlags,
  environment: Environment,
): Promise<void> {
  const kind = requireLogKind(log);
  const { cosigned = false, out } = flags;
  if (cosigned && flags.size !== undefined) throw usageFailure("say either --size or --cosigned");
  const query = {
    ...readSize(flags.size),
    ...(cosigned ? { cosigned } : {}),
    ...(flags.origin === undefined ? {} : { origin: flags.origin }),
  };
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const note = await client.getCheckpoint(ledgerId(), kind, query).catch((error: unknown) => {
      if (!(error instanceof ServiceProblem && error.code === "CHECKPOINT_NOT_FOUND")) throw error;
      const shows = `\`ledgerctl log show ${kind} --ledger ${ledgerId()}\` shows its newest checkpoint`;
      throw new HintedFailure(error, `${shows}. A log has one right after its first leaf.`);
    });
    const { origin, size, rootHash } = requireAskedFor(
      note,
      { ledgerId: ledgerId(), log: kind },
      query,
    );
    if (out !== undefined) {
      await writeOutputFile(out, Readable.from([note]));
      output.note(`the checkpoint of ${size} leaves is in ${out}`);
    } else if (output.isJson) {
      const hex = rootHash.toString("hex");
      output.line(toJson({ origin, size, rootHash: hex, checkpoint: note }));
    } else output.verbatim(note.trimEnd());
  });
}

/** What a note says that is what was asked for; its signatures are for those to check who trust a key. */
function requireAskedFor(
  note: string,
  log: WatchedLog,
  asked: { size?: number; origin?: string },
): Checkpoint {
  try {
    const origin = originOf(note, log);
    const checkpoint = parseCheckpoint(parseNote(note).text);
    const { size } = checkpoint;
    if (size === (asked.size ?? size) && origin === (asked.origin ?? origin)) return checkpoint;
    throw new UntrustedCheckpoint(`it is of ${origin} and ${size} leaves`);
  } catch (error) {
    if (!isUntrusted(error)) throw error;
    const message = `the service's checkpoint is not the one that was asked for: ${error.message}`;
    throw new CommandFailure(message, exitCodes.verificationFailed);
  }
}
