// Writes a bundle as it comes, under another name until it is whole.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Environment } from "../../../config.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { megabytes } from "../../terminal/counted.ts";
import { refuseJqOfFile } from "../../input/jq-of-file.ts";
import { exitOnInterrupt } from "../../terminal/interrupts.ts";
import { withProgress } from "../../terminal/progress-line.ts";
import { withService } from "../../connection/service-context.ts";
import { writeOutputFile } from "../../terminal/output-file.ts";
import { getProof } from "../log/get-proof.ts";
import { findClose } from "../period/find-close.ts";

export interface BundleFlags extends ServiceFlags {
  out: string;
  withProof?: boolean;
}

export async function writeBundle(
  label: string,
  flags: BundleFlags,
  environment: Environment,
): Promise<void> {
  const { out, withProof = false } = flags;
  refuseJqOfFile(flags, out === "-");
  if (withProof && out === "-") throw usageFailure("--with-proof goes with a file as --out");
  await withService(flags, environment, async (context) => {
    const { client, ledgerId, output } = context;
    const id = ledgerId();
    const close = await findClose(client, id, label);
    // First: a bundle may take long, and a proof be due later.
    const proof = withProof ? await getProof(context, "closes", { closeId: close.closeId }) : null;
    const bytes = await client.streamBundle(id, close.closeId);
    if (out === "-") {
      await pipeline(whole(bytes), process.stdout, { end: false });
      return;
    }
    let length = 0;
    const counted = async function* () {
      for await (const chunk of bytes) {
        length += chunk.length;
        yield chunk;
      }
    };
    exitOnInterrupt();
    const describe = () => megabytes(length);
    await withProgress(!output.isQuiet, describe, () => writeOutputFile(out, whole(counted())));
    output.note(
      `${out} is written, entries: ${close.entryCount}; publish the closeHash ${close.closeHash}`,
    );
    if (proof === null) return;
    await writeOutputFile(`${out}.tlog-proof`, Readable.from([proof]));
    output.note(`${out}.tlog-proof has the close's proof in the log closes`);
  });
}

const trailerStart = '{"kind":"trailer"';

/** The bytes of a bundle; fails when they end before its trailer. */
async function* whole(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let tail = "";
  for await (const chunk of bytes) {
    tail = (tail + Buffer.from(chunk.subarray(-200)).toString("latin1")).slice(-200);
    yield chunk;
  }
  if (!tail.slice(tail.lastIndexOf("\n", tail.length - 2) + 1).startsWith(trailerStart)) {
    throw new CommandFailure(
      "the service ended the bundle before its trailer",
      exitCodes.unavailable,
    );
  }
}
