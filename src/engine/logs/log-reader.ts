// What is shown of a log: its checkpoints with the cosignatures of witnesses, and proofs from its tree.
import { canonicalEntry, type EntryContent } from "../../core/canonical.ts";
import { formatCheckpoint } from "../../core/checkpoint.ts";
import { canonicalClose, type CloseRecord } from "../../core/close.ts";
import { Refusal, validationRefusal } from "../../core/errors.ts";
import type { LogIdentity, LogKind } from "../../core/log-origin.ts";
import { auditRanges, consistencyRanges, type Hash } from "../../core/merkle.ts";
import { formatSignatureLine, formatVerifierKey, parseVerifierKey } from "../../core/note.ts";
import { isQuorumMet, type TlogPolicy } from "../../core/tlog-policy.ts";
import { formatTlogProof } from "../../core/tlog-proof.ts";
import type { Connection } from "../../store/database/connection.ts";
import type { Pool } from "../../store/database/pool.ts";
import { writeBarrier } from "../../store/ledger-states.ts";
import {
  countCheckpoints,
  findCheckpoint,
  findNewestCheckpoint,
  listCheckpoints,
  listCosignatures,
  listCosignedSizes,
  listOrigins,
  type LogOrigin,
  type StoredCheckpoint,
  type StoredCosignature,
} from "../../store/log-checkpoints.ts";
import { findLogState, readDatabaseIdentity } from "../../store/logs.ts";
import { databaseFault, settingsFault, signersOf, type LogSettings } from "./log-signing.ts";
import { readRoots } from "./log-tree.ts";

/** Sizes that are looked through at a time for one that meets the quorum. */
const sizesPerPage = 64;

export interface LogReaderOptions {
  /** Null where this server has no log key, and shows no log. */
  readonly settings: LogSettings | null;
  /** Whose witnesses cosign; null where there are none. */
  readonly policy: TlogPolicy | null;
  /** How soon a record that is in no checkpoint yet will be in one. */
  readonly intervalMs: number;
}

/** A checkpoint with those who cosigned it. */
export interface ShownCheckpoint extends StoredCheckpoint {
  /** The signed note: text, signatures, cosignatures. */
  readonly note: string;
  /** Names of witnesses. */
  readonly cosigners: readonly string[];
}

/** Where a log stands. */
export interface ShownLog {
  readonly origin: string;
  readonly verifierKey: string;
  readonly newest: ShownCheckpoint | null;
  /** Why nothing is signed; null where it is. */
  readonly halted: string | null;
  /** All that it has had, oldest first. */
  readonly origins: readonly Pick<LogOrigin, "origin" | "verifierKey">[];
  readonly policy: TlogPolicy | null;
}

/** Which checkpoint is asked for. */
export type CheckpointChoice = {
  readonly size: number | null;
  readonly isCosigned: boolean;
  readonly origin: string | null;
};

type LogOfLedger = Pick<LogIdentity, "ledgerId" | "log">;

export class LogReader {
  readonly #pool: Pool;
  readonly #options: LogReaderOptions;

  constructor(pool: Pool, options: LogReaderOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /** Where a log stands. Rejects with `checkpointNotFound` where this server has no key. */
  readLog(log: LogOfLedger): Promise<ShownLog> {
    return this.#read(log, async (connection, identity, settings) => {
      const [newest, origins, state, database] = await Promise.all([
        findNewestCheckpoint(connection, identity),
        listOrigins(connection, log),
        findLogState(connection, log.ledgerId, log.log),
        readDatabaseIdentity(connection),
      ]);
      const signers = signersOf(settings, identity);
      const own = {
        origin: signers.origin,
        verifierKey: formatVerifierKey(signers.own.verifierKey),
      };
      const [shown] = newest === null ? [] : await this.#show(connection, identity, [newest]);
      // With the key that a checkpoint can be verified with: another server's, where this one has a wrong one.
      const isOwn = settingsFault(signers, newest) === null;
      const current = newest === null || isOwn ? own : newest;
      const earlier = origins.filter(({ generation }) => generation < identity.generation);
      return {
        origin: current.origin,
        verifierKey: newest?.verifierKey ?? current.verifierKey,
        newest: shown ?? null,
        halted:
          state?.haltReason ??
          settingsFault(signers, newest) ??
          (state && databaseFault(state, database)),
        origins: [
          ...earlier,
          { ...current, verifierKey: newest?.verifierKey ?? own.verifierKey },
        ].map(({ origin, verifierKey }) => ({ origin, verifierKey })),
        policy: this.#options.policy,
      };
    });
  }

  /** A checkpoint. Rejects with `checkpointNotFound`. */
  readCheckpoint(log: LogOfLedger, choice: CheckpointChoice): Promise<ShownCheckpoint> {
    return this.#read(log, async (connection, current) => {
      const identity = await this.#generationOf(connection, current, choice.origin);
      if (choice.isCosigned) return this.#newestCosigned(connection, identity);
      const checkpoint = await requireCheckpoint(connection, identity, choice.size);
      return this.#showOne(connection, identity, checkpoint);
    });
  }

  /** Checkpoints, oldest first. */
  listCheckpoints(
    log: LogOfLedger,
    page: { readonly limit: number; readonly offset: number; readonly origin: string | null },
  ): Promise<{ readonly checkpoints: readonly StoredCheckpoint[]; readonly total: number }> {
    return this.#read(log, async (connection, current) => {
      const identity = await this.#generationOf(connection, current, page.origin);
      const [checkpoints, total] = await Promise.all([
        listCheckpoints(connection, identity, page),
        countCheckpoints(connection, identity),
      ]);
      return { checkpoints, total };
    });
  }

  /**
   * The proof that a tree begins with a smaller one (RFC 6962, section 2.1.2). Rejects with `validation` for sizes in the
   * wrong order or beyond the newest checkpoint, `checkpointNotFound` where there is none.
   */
  readConsistency(log: LogOfLedger, from: number, to: number): Promise<readonly Hash[]> {
    return this.#read(log, async (connection, identity) => {
      const { size } = await requireCheckpoint(connection, identity, null);
      if (from < 1) throw parameterFault("from", "must be at least 1");
      if (from > to) throw parameterFault("to", "must not be smaller than from");
      if (to > size) throw parameterFault("to", `must be at most ${size}, the newest checkpoint's`);
      return readRoots(connection, identity, consistencyRanges(from, to));
    });
  }

  /**
   * The tlog-proof of an entry. `size` is that of the checkpoint in it, null for the newest. Whoever gets it verifies it: of
   * an entry that is not what was signed, the proof shows that. Rejects with `checkpointNotFound`, and with `notLoggedYet`
   * where the checkpoint does not cover it.
   */
  proveEntry(entry: EntryContent, size: number | null): Promise<string> {
    const log = { ledgerId: entry.ledgerId, log: "journal" } as const;
    return this.#prove(log, entry.sequence - 1, canonicalEntry(entry), size);
  }

  /** The same for a close. */
  proveClose(close: CloseRecord, size: number | null): Promise<string> {
    const log = { ledgerId: close.ledgerId, log: "closes" } as const;
    return this.#prove(log, close.number - 1, canonicalClose(close), size);
  }

  #prove(log: LogOfLedger, index: number, data: string, size: number | null): Promise<string> {
    return this.#read(log, async (connection, identity) => {
      const checkpoint = await requireCheckpoint(connection, identity, size).catch(
        (error: unknown) => {
          throw size === null ? this.#notLoggedYet(log) : error;
        },
      );
      if (index >= checkpoint.size) throw this.#notLoggedYet(log);
      const path = await readRoots(connection, identity, auditRanges(index, checkpoint.size));
      const { note } = await this.#showOne(connection, identity, checkpoint);
      return formatTlogProof({ extra: Buffer.from(data), index, path, checkpoint: note });
    });
  }

  #notLoggedYet({ log }: LogOfLedger): Refusal {
    // Closes are signed at once.
    const intervalMs = log === "journal" ? this.#options.intervalMs : 0;
    const seconds = Math.max(1, Math.ceil(intervalMs / 1_000));
    return new Refusal("notLoggedYet", "no checkpoint covers it yet", {
      retryAfterSeconds: Math.min(seconds, 60),
    });
  }

  /**
   * Reads in one transaction whose COMMIT writes to the log behind what was read: a checkpoint that is shown is on the
   * standbys (docs/decisions/0010).
   */
  async #read<Result>(
    { ledgerId, log }: LogOfLedger,
    work: (connection: Connection, identity: LogIdentity, settings: LogSettings) => Promise<Result>,
  ): Promise<Result> {
    const { settings } = this.#options;
    if (settings === null) throw noCheckpoint("this server has no log key, and signs nothing");
    return this.#pool.transaction(async (transaction) => {
      const state = await findLogState(transaction, ledgerId, log);
      const identity = { ledgerId, log, generation: state?.generation ?? 1 };
      const result = await work(transaction, identity, settings);
      await writeBarrier(transaction, ledgerId);
      return result;
    });
  }

  async #generationOf(
    connection: Connection,
    current: LogIdentity,
    origin: string | null,
  ): Promise<LogIdentity> {
    if (origin === null) return current;
    const found = (await listOrigins(connection, current)).find((one) => one.origin === origin);
    if (found === undefined) throw noCheckpoint("the log has had no such origin");
    return { ...current, generation: found.generation };
  }

  async #newestCosigned(connection: Connection, identity: LogIdentity): Promise<ShownCheckpoint> {
    const { policy } = this.#options;
    if (policy === null) throw noCheckpoint("this server has no policy, and so no witnesses");
    const newest = await requireCheckpoint(connection, identity, null);
    if (isQuorumMet(policy, new Set())) return this.#showOne(connection, identity, newest);
    for (let below = newest.size + 1; ;) {
      const sizes = await listCosignedSizes(connection, identity, { below, limit: sizesPerPage });
      const cosignatures = await listCosignatures(connection, identity, sizes);
      const size = sizes.find((one) => meets(policy, cosignatures, one));
      if (size !== undefined) {
        const checkpoint = await requireCheckpoint(connection, identity, size);
        return this.#showOne(connection, identity, checkpoint);
      }
      const last = sizes.at(-1);
      if (last === undefined || sizes.length < sizesPerPage) {
        throw noCheckpoint("no checkpoint has met the quorum of the policy yet");
      }
      below = last;
    }
  }

  async #showOne(
    connection: Connection,
    identity: LogIdentity,
    checkpoint: StoredCheckpoint,
  ): Promise<ShownCheckpoint> {
    const [shown] = await this.#show(connection, identity, [checkpoint]);
    if (shown === undefined) throw new Error("each checkpoint is shown");
    return shown;
  }

  async #show(
    connection: Connection,
    identity: LogIdentity,
    checkpoints: readonly StoredCheckpoint[],
  ): Promise<ShownCheckpoint[]> {
    const sizes = checkpoints.map(({ size }) => size);
    const cosignatures = await listCosignatures(connection, identity, sizes);
    return checkpoints.map((checkpoint) => {
      const own = cosignatures.filter(({ size }) => size === checkpoint.size);
      const keys = own.map(({ verifierKey }) => parseVerifierKey(verifierKey));
      const lines = own.map(({ signature }, index) => {
        const { name, keyId } = keys[index] ?? { name: "", keyId: "" };
        return formatSignatureLine({ name, keyId, signature });
      });
      const text = formatCheckpoint(checkpoint);
      return {
        ...checkpoint,
        note: `${text}\n${checkpoint.signatures}${lines.join("")}`,
        cosigners: keys.map(({ name }) => name),
      };
    });
  }
}

function meets(
  policy: TlogPolicy,
  cosignatures: readonly StoredCosignature[],
  size: number,
): boolean {
  const keys = new Set(
    cosignatures.filter((one) => one.size === size).map(({ verifierKey }) => verifierKey),
  );
  const cosigned = policy.witnesses.filter(({ key }) => keys.has(formatVerifierKey(key)));
  return isQuorumMet(policy, new Set(cosigned));
}

async function requireCheckpoint(
  connection: Connection,
  identity: LogIdentity,
  size: number | null,
): Promise<StoredCheckpoint> {
  const found =
    size === null
      ? await findNewestCheckpoint(connection, identity)
      : await findCheckpoint(connection, identity, size);
  if (found !== null) return found;
  throw noCheckpoint(
    size === null ? "the log has no checkpoint yet" : `the log has no checkpoint of size ${size}`,
  );
}

function noCheckpoint(detail: string): Refusal {
  return new Refusal("checkpointNotFound", detail);
}

function parameterFault(parameter: string, detail: string): Refusal {
  return validationRefusal([{ parameter, detail }]);
}

/** The kind of a log that a path names, or null. */
export function isLogKind(text: string): text is LogKind {
  return text === "journal" || text === "closes";
}
