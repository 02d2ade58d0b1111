// Signed checkpoints of logs, and the cosignatures of witnesses.
import * as z from "zod";
import { logKinds, type LogIdentity } from "../core/log-origin.ts";
import type { Timestamp } from "../core/time.ts";
import { countRow, hashColumn, timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, sql } from "./database/statement.ts";
import type { DatabaseIdentity } from "./logs.ts";

const checkpointRow = z.object({
  size: z.number(),
  /** 1, 2, 3 … in the generation. */
  number: z.number(),
  rootHash: hashColumn,
  origin: z.string(),
  verifierKey: z.string(),
  /** The lines of the log's own signatures. */
  signatures: z.string(),
  issuedAt: timestampColumn,
});

/** A checkpoint as it was signed, without cosignatures. */
export type StoredCheckpoint = Readonly<z.output<typeof checkpointRow>>;

const checkpointColumns = sql.fragment`
  size, number, root_hash AS "rootHash", origin, verifier_key AS "verifierKey", signatures,
  issued_at AS "issuedAt"`;

export function insertCheckpoint(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
  checkpoint: StoredCheckpoint,
  { systemIdentifier, timeline }: DatabaseIdentity,
): Promise<unknown> {
  return connection.run(command`
    INSERT INTO log_checkpoints
      (ledger_id, log, generation, size, number, root_hash, origin, verifier_key, signatures,
       issued_at, system_identifier, timeline)
    VALUES (
      ${ledgerId},
      ${log},
      ${generation},
      ${checkpoint.size},
      ${checkpoint.number},
      decode(${checkpoint.rootHash.toString("hex")}, 'hex'),
      ${checkpoint.origin},
      ${checkpoint.verifierKey},
      ${checkpoint.signatures},
      ${checkpoint.issuedAt},
      ${systemIdentifier},
      ${timeline})`);
}

/** The newest checkpoint of a log, or null before its first. */
export function findNewestCheckpoint(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
): Promise<StoredCheckpoint | null> {
  return connection.maybeOne(sql.type(checkpointRow)`
    SELECT ${checkpointColumns} FROM log_checkpoints
     WHERE ledger_id = ${ledgerId} AND log = ${log} AND generation = ${generation}
     ORDER BY size DESC LIMIT 1`);
}

/** The checkpoint of a size, or null. */
export async function findCheckpoint(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
  size: number,
): Promise<StoredCheckpoint | null> {
  // Ordered, so that no plan walks the index by number, which looks as good to a planner without statistics.
  const row = await connection.maybeOne(sql.type(checkpointRow)`
    SELECT ${checkpointColumns} FROM log_checkpoints
     WHERE ledger_id = ${ledgerId} AND log = ${log} AND generation = ${generation}
       AND size <= ${size}
     ORDER BY size DESC LIMIT 1`);
  return row?.size === size ? row : null;
}

/** Checkpoints of a log, oldest first, after some of them. Numbers have no gaps: an offset is a number. */
export function listCheckpoints(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly StoredCheckpoint[]> {
  return connection.any(sql.type(checkpointRow)`
    SELECT ${checkpointColumns} FROM log_checkpoints
     WHERE ledger_id = ${ledgerId} AND log = ${log} AND generation = ${generation}
       AND number > ${offset}
     ORDER BY number LIMIT ${limit}`);
}

/** How many checkpoints a log has. */
export async function countCheckpoints(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
): Promise<number> {
  const { count } = await connection.one(sql.type(countRow)`
    SELECT coalesce(max(number), 0) AS count FROM log_checkpoints
     WHERE ledger_id = ${ledgerId} AND log = ${log} AND generation = ${generation}`);
  return count;
}

const isThereRow = z.object({ isThere: z.boolean() });

/** Whether any log has a checkpoint. */
export async function hasCheckpoints(connection: Connection): Promise<boolean> {
  const { isThere } = await connection.one(sql.type(isThereRow)`
    SELECT EXISTS (SELECT FROM log_checkpoints) AS "isThere"`);
  return isThere;
}

const originRow = z.object({
  generation: z.number(),
  origin: z.string(),
  verifierKey: z.string(),
});

/** The origin of a generation of a log, and the key of its newest checkpoint. */
export type LogOrigin = Readonly<z.output<typeof originRow>>;

/** The origins that a log has had, oldest first. */
export function listOrigins(
  connection: Connection,
  { ledgerId, log }: Pick<LogIdentity, "ledgerId" | "log">,
): Promise<readonly LogOrigin[]> {
  return connection.any(sql.type(originRow)`
    SELECT DISTINCT ON (generation) generation, origin, verifier_key AS "verifierKey"
      FROM log_checkpoints WHERE ledger_id = ${ledgerId} AND log = ${log}
     ORDER BY generation, size DESC`);
}

const cosignatureRow = z.object({
  size: z.number(),
  verifierKey: z.string(),
  signature: z.instanceof(Buffer),
  cosignedAt: timestampColumn,
});

/** A witness's signature over a checkpoint: `signature` has its time and the Ed25519 signature. */
export type StoredCosignature = Readonly<z.output<typeof cosignatureRow>>;

/** Keeps a cosignature and counts it, unless the witness has one over this checkpoint already. */
export function insertCosignature(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
  { size, verifierKey, signature, cosignedAt }: StoredCosignature,
): Promise<unknown> {
  return connection.run(command`
    WITH added AS (
      INSERT INTO log_cosignatures
        (ledger_id, log, generation, size, verifier_key, signature, cosigned_at)
      VALUES (
        ${ledgerId},
        ${log},
        ${generation},
        ${size},
        ${verifierKey},
        decode(${signature.toString("hex")}, 'hex'),
        ${cosignedAt satisfies Timestamp})
      ON CONFLICT (ledger_id, log, generation, size, verifier_key) DO NOTHING
      RETURNING size
    )
    UPDATE log_heads
       SET cosignature_count = cosignature_count + (SELECT count(*) FROM added)
     WHERE ledger_id = ${ledgerId} AND log = ${log}`);
}

/** The cosignatures over the checkpoints of some sizes, in the order of the witnesses' keys. */
export function listCosignatures(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
  sizes: readonly number[],
): Promise<readonly StoredCosignature[]> {
  return connection.any(sql.type(cosignatureRow)`
    SELECT size, verifier_key AS "verifierKey", signature, cosigned_at AS "cosignedAt"
      FROM log_cosignatures
     WHERE ledger_id = ${ledgerId} AND log = ${log} AND generation = ${generation}
       AND size = ANY (${column(sizes, (size) => size, "int8")})
     ORDER BY size, verifier_key`);
}

const sizeRow = z.object({ size: z.number() });

/** The sizes of a log's checkpoints that have a cosignature, largest first, below one of them. */
export async function listCosignedSizes(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
  { below, limit }: { readonly below: number; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await connection.any(sql.type(sizeRow)`
    SELECT DISTINCT size FROM log_cosignatures
     WHERE ledger_id = ${ledgerId} AND log = ${log} AND generation = ${generation}
       AND size < ${below}
     ORDER BY size DESC LIMIT ${limit}`);
  return rows.map(({ size }) => size);
}

/** Cosignatures that are looked through for the last one of a witness. */
const recentCosignatures = 1_000;

/** The size of the last checkpoint that a witness cosigned; 0 where none of the recent cosignatures is its own. */
export async function findCosignedSize(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
  verifierKey: string,
): Promise<number> {
  const row = await connection.maybeOne(sql.type(sizeRow)`
    SELECT size FROM (
      SELECT size, verifier_key FROM log_cosignatures
       WHERE ledger_id = ${ledgerId} AND log = ${log} AND generation = ${generation}
       ORDER BY size DESC LIMIT ${recentCosignatures}
    ) AS recent WHERE verifier_key = ${verifierKey} ORDER BY size DESC LIMIT 1`);
  return row?.size ?? 0;
}

const identityRow = z.object({
  ledgerId: z.string(),
  log: z.enum(logKinds),
  generation: z.number(),
});

/** Logs that are not halted and whose newest checkpoint a witness has not cosigned; some of them where there are more. */
export function listUncosignedLogs(
  connection: Connection,
  verifierKey: string,
  limit: number,
): Promise<readonly LogIdentity[]> {
  // At random: the same ones, such as those that the witness does not know, must not be all that is ever found.
  return connection.any(sql.type(identityRow)`
    SELECT heads.ledger_id AS "ledgerId", heads.log, states.generation
      FROM log_heads AS heads
      JOIN log_states AS states ON states.ledger_id = heads.ledger_id AND states.log = heads.log
     WHERE heads.signed_size > 0 AND states.halted_at IS NULL
       AND NOT EXISTS (
             SELECT FROM log_cosignatures AS cosignatures
              WHERE cosignatures.ledger_id = heads.ledger_id AND cosignatures.log = heads.log
                AND cosignatures.generation = states.generation
                AND cosignatures.size = heads.signed_size
                AND cosignatures.verifier_key = ${verifierKey})
     ORDER BY random() LIMIT ${limit}`);
}
