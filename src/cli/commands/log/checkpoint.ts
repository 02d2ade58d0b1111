// `log checkpoint`: a checkpoint as the log gave it out.
import { Readable } from "node:stream";
import type { Environment } from "../../../config.ts";
import { parseCheckpoint } from "../../../core/checkpoint.ts";
import { parseNote } from "../../../core/note.ts";
import { UntrustedCheckpoint } from "../../../verify/checkpoint.ts";
import { withService } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
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
  const { origin, cosigned = false, out } = flags;
  if (cosigned && flags.size !== undefined) throw usageFailure("say either --size or --cosigned");
  const query = {
    ...readSize(flags.size),
    ...(cosigned ? { cosigned } : {}),
    ...(origin === undefined ? {} : { origin }),
  };
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const note = await client.getCheckpoint(ledgerId(), kind, query);
    const size = requireAskedFor(note, { ledgerId: ledgerId(), log: kind }, query);
    if (out === undefined) output.verbatim(note.trimEnd());
    else {
      await writeOutputFile(out, Readable.from([note]));
      output.note(`the checkpoint of ${size} leaves is in ${out}`);
    }
  });
}

/** The size of a note that is what was asked for; its signatures are for those to check who trust a key. */
function requireAskedFor(
  note: string,
  log: WatchedLog,
  asked: { size?: number; origin?: string },
): number {
  try {
    const origin = originOf(note, log);
    const { size } = parseCheckpoint(parseNote(note).text);
    if (size === (asked.size ?? size) && origin === (asked.origin ?? origin)) return size;
    throw new UntrustedCheckpoint(`it is of ${origin} and ${size} leaves`);
  } catch (error) {
    if (!isUntrusted(error)) throw error;
    const message = `the service's checkpoint is not the one that was asked for: ${error.message}`;
    throw new CommandFailure(message, exitCodes.verificationFailed);
  }
}
