// Metadata of an entry: any JSON object, as long as canonical JSON can hold it and it stays small.
import { Buffer } from "node:buffer";
import * as z from "zod";
import { faultsMax } from "../core/errors.ts";
import { brokenTextFault } from "../core/text.ts";
import { isJsonObject, type JsonObject } from "../core/journal.ts";

export const metadataBytesMax = 64 * 1024;
export const metadataDepthMax = 64;

/** A free-form object; it is kept as it came, key order aside. */
export const metadata = z
  .custom<JsonObject>(isJsonObject, { error: "must be an object" })
  .superRefine((value, context) => {
    const faults: MetadataFault[] = [];
    collectFaults(value, [], faults);
    // Only what is not too deep and well-formed can be measured.
    if (faults.length === 0 && Buffer.byteLength(JSON.stringify(value)) > metadataBytesMax) {
      faults.push({ path: [], detail: `must be at most ${metadataBytesMax / 1024} KiB of JSON` });
    }
    for (const { path, detail } of faults) {
      context.addIssue({ code: "custom", message: detail, path });
    }
  });

type MetadataFault = { path: (string | number)[]; detail: string };

function collectFaults(value: unknown, path: (string | number)[], faults: MetadataFault[]): void {
  if (faults.length >= faultsMax) return;
  if (typeof value === "string") {
    const detail = brokenTextFault(value);
    if (detail !== null) faults.push({ path, detail });
  } else if (typeof value === "object" && value !== null) {
    if (path.length >= metadataDepthMax) {
      faults.push({ path, detail: `must not be nested more than ${metadataDepthMax} deep` });
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => {
        collectFaults(item, [...path, index], faults);
      });
    } else {
      for (const [key, member] of Object.entries(value)) {
        const detail = brokenTextFault(key);
        if (detail !== null) faults.push({ path: [...path, key], detail: `its name ${detail}` });
        collectFaults(member, [...path, key], faults);
      }
    }
  }
}
