// A file of an auditor's: what can't be read, what is damaged, and what is checked.
import { MalformedFile } from "../../../verify/documents.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import {
  describeAuditorsFile,
  kindOfAuditorsFile,
  type AuditorsFile,
} from "../../input/auditors-file.ts";
import { openByteSource, type ByteSource } from "../../input/entry-files/byte-source.ts";

/** Checks the content of a file, or of stdin for `-`. */
export async function checkFile<Result>(
  file: string,
  kind: AuditorsFile,
  check: (chunks: AsyncIterable<Buffer>) => Promise<Result>,
): Promise<Result> {
  let source: ByteSource | null = null;
  let start: Buffer = Buffer.alloc(0);
  const keepingStart = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      if (start.length === 0) start = chunk;
      yield chunk;
    }
  };
  try {
    source = await openByteSource(file === "-" ? null : file);
    return await check(keepingStart(source.chunks));
  } catch (error) {
    // It may have been one.
    if (error instanceof MalformedFile) {
      const found = kindOfAuditorsFile(start);
      const what =
        found === null || found === kind ? error.message : `it is ${describeAuditorsFile(found)}`;
      const message = `${file} is no ${kind}: ${what}`;
      throw new CommandFailure(message, exitCodes.verificationFailed);
    }
    // A file that can't be read says nothing about what is in it.
    if (error instanceof CommandFailure) throw new CommandFailure(error.message, exitCodes.failed);
    throw error;
  } finally {
    source?.stop();
  }
}
