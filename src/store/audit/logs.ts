// What an audit reads of logs: checkpoints and cosignatures in pages, and how many subtrees there are.
import * as z from "zod";
import type { LogKind } from "../../core/log-origin.ts";
import { countRow, hashColumn } from "../columns.ts";
import type { Connection } from "../database/connection.ts";
import { sql } from "../database/statement.ts";
import { readPages } from "../pages.ts";

const rowsPerPage = 1_000;

const checkpointRow = z.object({
  generation: z.number(),
  size: z.number(),
  number: z.number(),
  rootHash: hashColumn,
  origin: z.string(),
  verifierKey: z.string(),
  signatures: z.string(),
});

export type AuditedCheckpoint = Readonly<z.output<typeof checkpointRow>>;

/** All checkpoints of a log in pages, by size. */
export function readAuditedCheckpoints(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
): AsyncGenerator<readonly AuditedCheckpoint[], void> {
  return readPages<AuditedCheckpoint>(rowsPerPage, (last, limit) =>
    connection.any(sql.type(checkpointRow)`
      SELECT generation, size, number, root_hash AS "rootHash", origin, verifier_key AS "verifierKey",
             signatures
        FROM log_checkpoints
       WHERE ledger_id = ${ledgerId} AND log = ${log}
         AND (size, generation) > (${last?.size ?? 0}, ${last?.generation ?? 0})
       ORDER BY size, generation LIMIT ${limit}`),
  );
}

const cosignatureRow = z.object({
  generation: z.number(),
  size: z.number(),
  verifierKey: z.string(),
  signature: z.instanceof(Buffer),
  /** In Unix seconds, with what is finer. */
  cosignedAt: z.string(),
  /** Of the checkpoint that it is about; null where there is none. */
  origin: z.string().nullable(),
  rootHash: hashColumn.nullable(),
});

export type AuditedCosignature = Readonly<z.output<typeof cosignatureRow>>;

/** All cosignatures of a log in pages, each with what it is about. */
export function readAuditedCosignatures(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
): AsyncGenerator<readonly AuditedCosignature[], void> {
  return readPages<AuditedCosignature>(rowsPerPage, (last, limit) =>
    connection.any(sql.type(cosignatureRow)`
      SELECT cosignatures.generation, cosignatures.size,
             cosignatures.verifier_key AS "verifierKey", signature,
             trim_scale(extract(epoch FROM cosigned_at))::text AS "cosignedAt", origin,
             root_hash AS "rootHash"
        FROM log_cosignatures AS cosignatures
        LEFT JOIN log_checkpoints AS checkpoints
          ON checkpoints.ledger_id = ${ledgerId} AND checkpoints.log = ${log}
         AND checkpoints.generation = cosignatures.generation
         AND checkpoints.size = cosignatures.size
       WHERE cosignatures.ledger_id = ${ledgerId} AND cosignatures.log = ${log}
         AND (cosignatures.generation, cosignatures.size, cosignatures.verifier_key)
             > (${last?.generation ?? 0}, ${last?.size ?? 0}, ${last?.verifierKey ?? ""})
       ORDER BY cosignatures.generation, cosignatures.size, cosignatures.verifier_key
       LIMIT ${limit}`),
  );
}

/** How many subtrees of a log are stored. */
export async function countLogSubtrees(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
): Promise<number> {
  const { count } = await connection.one(sql.type(countRow)`
    SELECT count(*) FROM log_subtrees WHERE ledger_id = ${ledgerId} AND log = ${log}`);
  return count;
}
