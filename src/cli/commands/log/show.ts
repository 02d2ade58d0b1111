// `log show`: a log's newest checkpoint, and whether it goes on.
import type { Environment } from "../../../config.ts";
import { withService } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { members } from "../../terminal/output.ts";
import { requireLogKind } from "./log-argument.ts";

export async function showLog(
  log: string | undefined,
  flags: ServiceFlags,
  environment: Environment,
): Promise<void> {
  const kind = requireLogKind(log);
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const shown = await client.getLog(ledgerId(), kind);
    output.result(shown, () => {
      const { origin, verifierKey, size, rootHash, issuedAt, cosigners, halted, origins } = shown;
      const earlier = origins.map((each) => each.origin).filter((each) => each !== origin);
      const shownMembers = {
        ...{ origin, verifierKey, size, rootHash, issuedAt: issuedAt ?? "no checkpoint yet" },
        ...(cosigners.length === 0 ? {} : { cosigners: cosigners.join(", ") }),
        ...(earlier.length === 0 ? {} : { earlier: earlier.join(", ") }),
        ...(halted === null ? {} : { HALTED: halted }),
      };
      return members(shownMembers, output.terminalWidth);
    });
  });
}
