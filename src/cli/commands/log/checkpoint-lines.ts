// A verified checkpoint, for people.
import { timestampFromEpochMs } from "../../../core/time.ts";
import type { VerifiedCheckpoint } from "../../../verify/checkpoint.ts";

/** Origin, size and root, and who signed; a line each. */
export function checkpointLines(checkpoint: VerifiedCheckpoint): string[] {
  const { origin, size, rootHash, signers } = checkpoint;
  return [
    `origin       ${origin}`,
    `size         ${size}`,
    `root         ${rootHash.toString("hex")}`,
    ...signers.map(({ name, time }) =>
      time === null
        ? `signed by    ${name}`
        : `cosigned by  ${name} at ${timestampFromEpochMs(time * 1_000) ?? `Unix second ${time}`}`,
    ),
  ];
}
