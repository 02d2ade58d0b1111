// `entry reverse`: posts the reversal of an entry.
import type { Environment } from "../../../config.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { withService } from "../../connection/service-context.ts";
import { requireEntryId } from "../../input/arguments.ts";
import { readLabels, type LabelFlags } from "./entry-flags.ts";

export type ReverseFlags = ServiceFlags & LabelFlags;

export async function reverseEntry(
  id: string,
  flags: ReverseFlags,
  environment: Environment,
): Promise<void> {
  const entryId = requireEntryId(id);
  const reversal = readLabels(flags);
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const result = await client.reverseEntry(ledgerId(), entryId, reversal);
    output.created(result, ({ journalId }) => journalId);
  });
}
