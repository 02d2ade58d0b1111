// `merkle prove`: the proof that an entry is in a close, checked before it is handed out.
import { writeFile } from "node:fs/promises";
import type { Environment } from "../../../config.ts";
import { checkProof } from "../../../verify/proof.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { withService } from "../../connection/service-context.ts";
import { findClose } from "../period/find-close.ts";

export interface ProveFlags extends ServiceFlags {
  period: string;
  out?: string;
}

export async function proveEntry(
  entryId: string,
  flags: ProveFlags,
  environment: Environment,
): Promise<void> {
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const id = ledgerId();
    const { closeId } = await findClose(client, id, flags.period);
    const proof = await client.getProof(id, closeId, entryId);
    const [finding] = checkProof(proof, null).findings;
    if (finding !== undefined) {
      throw new CommandFailure(
        `the service's proof does not hold: ${finding.where} ${finding.what}`,
        exitCodes.verificationFailed,
      );
    }
    if (flags.out === undefined) output.verbatim(proof);
    else {
      await writeFile(flags.out, `${proof}\n`);
      output.note(`the proof is in ${flags.out}`);
    }
  });
}
