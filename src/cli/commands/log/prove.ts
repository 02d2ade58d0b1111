// `log prove`: the proof that an entry or a close is in its log.
import { Readable } from "node:stream";
import type { Environment } from "../../../config.ts";
import { withService } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { usageFailure } from "../../failure.ts";
import { toJson } from "../../terminal/output.ts";
import { writeOutputFile } from "../../terminal/output-file.ts";
import { findClose } from "../period/find-close.ts";
import { getProof } from "./get-proof.ts";
import { readSize } from "./log-argument.ts";

export interface LogProveFlags extends ServiceFlags {
  close?: string;
  size?: string;
  out?: string;
}

export async function proveRecord(
  entryId: string | undefined,
  flags: LogProveFlags,
  environment: Environment,
): Promise<void> {
  const { close: period, out } = flags;
  if ((entryId === undefined) === (period === undefined)) {
    throw usageFailure("say either ENTRY_ID or --close PERIOD");
  }
  const size = readSize(flags.size);
  await withService(flags, environment, async (context) => {
    const { client, ledgerId, output } = context;
    const proof =
      period === undefined
        ? await getProof(context, "journal", { entryId: entryId ?? "", ...size })
        : await getProof(context, "closes", {
            closeId: (await findClose(client, ledgerId(), period)).closeId,
            ...size,
          });
    if (out !== undefined) {
      await writeOutputFile(out, Readable.from([proof]));
      output.note(`the proof is in ${out}`);
    } else if (output.isJson) output.line(toJson({ proof }));
    else output.verbatim(proof.trimEnd());
  });
}
