// Checks of what administration made: the record of its acts by itself, and the tables against it.
import { createHash } from "node:crypto";
import {
  listImpossibleActs,
  listUnrecordedRows,
  readAuditedActs,
  type ActsScope,
  type AuditedAct,
} from "../store/audit/administration.ts";
import type { Connection } from "../store/database/connection.ts";
import type { Hash } from "../core/merkle.ts";
import type { CheckLog } from "./audit-log.ts";

/** A record's acts are numbered without gaps, and each has the hash of itself and of the one before. */
export async function checkActs(
  connection: Connection,
  recordOf: ActsScope["recordOf"],
  log: CheckLog,
): Promise<void> {
  let last: AuditedAct | null = null;
  for await (const page of readAuditedActs(connection, recordOf)) {
    for (const act of page) {
      log.looked(1);
      const number: number = (last?.number ?? 0) + 1;
      if (act.number !== number) {
        log.find(`act ${act.number}`, `comes where act ${number} should be`);
      }
      if (!act.hash.equals(hashOfAct(last?.hash ?? null, act))) {
        log.find(`act ${act.number}`, "is not what was recorded, or follows another than it did");
      }
      last = act;
    }
  }
}

/** As the database's own function does: each field with the number of its bytes, `-` for null. */
function hashOfAct(previous: Hash | null, { fields }: AuditedAct): Hash {
  const text = fields
    .map((field) => (field === null ? "-" : `${Buffer.byteLength(field)}:${field}`))
    .join(",");
  return createHash("sha256")
    .update(previous ?? "")
    .update(text)
    .digest();
}

/** Acts fit each other, and rows are as the last act about them left them. */
export async function checkRecordedTables(
  connection: Connection,
  scope: ActsScope,
  log: CheckLog,
): Promise<void> {
  log.findAll(await listImpossibleActs(connection, scope));
  log.findAll(await listUnrecordedRows(connection, scope));
}
